"""Builds programs with the tracing pass and runs them under a stub of the logging library."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.command import BUILD, REPOSITORY

PROGRAMS = REPOSITORY / "tests" / "programs" / "tracing"
PASS = BUILD / "lib" / "libhalo-pass.so"
DEBUG = ("-g", "-fstandalone-debug")
LOAD, STORE, UPDATE, READ, WRITE, ENTER, EXIT, ALLOCATION = range(1, 9)
COUNT = -7  # the marker that follows an allocation


@dataclass
class Trace:
    """What the stub printed: the events in their order, the type notes, the linked modules."""

    status: int
    stdout: str
    events: list[dict[str, Any]] = field(default_factory=list)
    types: dict[str, dict[str, Any]] = field(default_factory=dict)
    modules: list[dict[str, Any]] = field(default_factory=list)

    def of(self, *kinds: int, **wanted: Any) -> list[dict[str, Any]]:
        return [
            event
            for event in self.events
            if (not kinds or event["kind"] in kinds)
            and all(event.get(key) == value for key, value in wanted.items())
        ]

    def variables(self, *kinds: int) -> set[str]:
        return {event["variable"] for event in self.of(*kinds) if event["kind"] in range(1, 6)}


def build_stub(folder: Path) -> Path:
    """The library, with the name of the real one."""
    library = folder / "libhalo-logging.so"
    sources = [str(PROGRAMS / "stub_logger.cc"), str(PROGRAMS / "stub_hook.S")]
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{REPOSITORY / 'src'}"]
    subprocess.run([*command, *sources, "-o", str(library)], check=True)
    return library


def compile_traced(
    stub: Path, output: Path, *arguments: str, debug: tuple[str, ...] = DEBUG, instrument: str = ""
) -> subprocess.CompletedProcess[str]:
    """Calls clang with the pass; arguments that name a file of the test programs are found."""
    found = [str(PROGRAMS / part) if (PROGRAMS / part).is_file() else part for part in arguments]
    plus = any(part.endswith(".cc") for part in found)
    compiler = "clang++-19" if plus else "clang-19"
    command = [compiler, f"-fpass-plugin={PASS}", *debug, *found, "-o", str(output)]
    if "-c" not in found:
        command += [str(stub), f"-Wl,-rpath,{stub.parent}"]
    return subprocess.run(
        command,
        env={**os.environ, "HALO_INSTRUMENT": instrument},
        capture_output=True,
        text=True,
        check=False,
    )


def trace(program: Path, *arguments: str, counts: bool = False) -> Trace:
    """Runs a program under the stub; with `counts` each site comes once, with its count."""
    log = program.with_suffix(".events")
    log.unlink(missing_ok=True)
    environment = {**os.environ, "HALO_STUB": str(log)}
    if counts:
        environment["HALO_STUB_COUNTS"] = "1"
    done = subprocess.run(
        [str(program), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    found = Trace(done.returncode, done.stdout)
    for line in log.read_text().splitlines() if log.exists() else ():
        entry = json.loads(line)
        if "kind" in entry:
            found.events.append(entry)
        elif "described" in entry:
            found.types[entry["described"]] = entry
        else:
            found.modules.append(entry)
    return found


def traced(stub: Path, output: Path, *arguments: str, **options: Any) -> Trace:
    """Compiles and runs."""
    done = compile_traced(stub, output, *arguments, **options)
    assert done.returncode == 0, done.stderr
    return trace(output)
