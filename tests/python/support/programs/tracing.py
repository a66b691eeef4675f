"""Programs with sites made by hand, run with a trace, and what their traces hold."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from support.command import BUILD, REPOSITORY

SOURCES = REPOSITORY / "tests" / "programs" / "tracing"
PROGRAMS = BUILD / "tests" / "tracing"
LIBRARIES = BUILD / "lib"

# Endings and markers of src/tracing/format.
COMPLETE, SIGNAL, NO_SPACE, EXEC = 1, 2, 3, 4
EPOCH, ALLOC, ALLOC_FROM, FRAME, FREE, REVIVE, COUNT, THREAD_END, LOST = range(1, 10)
LOAD, STORE = 1012, 1013  # the sites of sites.h, which are in lines 12 and 13


@cache
def program(name: str, *flags: str, output: str = "") -> Path:
    """A program of tests/programs/tracing, compiled and linked with the logging library."""
    path = PROGRAMS / (output or name)
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-O2", "-g", "-pthread", f"-I{SOURCES}", f"-L{LIBRARIES}", *flags]
    draft = path.with_name(f"{path.name}.{os.getpid()}")  # another worker may run the program
    command += [f"-Wl,-rpath,{LIBRARIES}", "-Wl,--no-as-needed", "-o", str(draft)]
    command += [str(SOURCES / f"{name}.c"), "-lhalo-logging"]
    subprocess.run(command, check=True)
    draft.replace(path)
    return path


@dataclass(frozen=True)
class Summary:
    """What halo-trace-summary says of a trace."""

    complete: bool
    about: dict[str, Any]
    maps: list[list[Any]]
    modules: list[str]
    all: int
    threads: dict[tuple[int, int], tuple[int, int]]  # thread and kind: count, sum of word2
    end: list[int] | None

    def count(self, kind: int) -> int:
        return sum(count for (_, k), (count, _) in self.threads.items() if k == kind)

    def in_thread(self, thread: int, kind: int) -> int:
        return self.threads.get((thread, kind), (0, 0))[0]


def summarise(trace: bytes) -> Summary:
    done = subprocess.run(
        [str(BUILD / "bin" / "halo-trace-summary")], input=trace, capture_output=True, check=True
    )
    found = json.loads(done.stdout)
    return Summary(
        found["complete"],
        found["about"],
        found["maps"],
        found["modules"],
        found["all"],
        {(t, kind): (count, total) for t, kind, count, total in found["counts"]},
        found.get("end"),
    )


def run(
    path: Path,
    *arguments: str,
    trace: str = "",
    fds: tuple[int, ...] = (),
    largest_file: int = resource.RLIM_INFINITY,
) -> subprocess.CompletedProcess[str]:
    """Runs a program with that HALO_TRACE; its files have at most `largest_file` bytes."""
    limits = (largest_file, largest_file)
    environment = {key: value for key, value in os.environ.items() if key != "HALO_TRACE"}
    return subprocess.run(
        [str(path), *arguments],
        env={**environment, "HALO_TRACE": trace},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        pass_fds=fds,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
    )


def traced(name: str, *arguments: str, trace: Path) -> tuple[int, str, Summary]:
    """Status, output and trace of a run."""
    done = run(program(name), *arguments, trace=f"file:{trace}")
    assert done.stderr == ""
    return done.returncode, done.stdout, summarise(trace.read_bytes())
