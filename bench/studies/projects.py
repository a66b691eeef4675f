"""Builds a C and a C++ project from Debian's unchanged sources with the compiler wrappers.

jq and pugixml are built by the plain compiler and by the wrappers. Their own tests must have the
same results in the plain build, in the traced one with HALO_TRACE unset, and in the traced one with
a trace of every process; the traces must be complete. Otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.shared.traced_build import CLANG, Compilers, wrappers
from bench.studies.debian_source import SourceFetcher
from halo.base.settings import Settings, read_settings

MEMORY = Path("/dev/shm")
TOOLS = ("apt-get", "dpkg-source", "autoreconf", "libtoolize", "make", "cmake")
LARGE = 64 << 20
END = struct.Struct("<IIQQIIQQ")  # the head of a frame, and the note of the last one
END_FRAME, END_NOTE_BYTES, COMPLETE = 6, 24, 1
PASSED = re.compile(r"^PASS: |(\d+) of \d+ tests passed|Success: (\d+) tests passed", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """A source package, and the shell commands that build and test it."""

    name: str
    language: str
    build: tuple[str, ...]
    test: str


PROJECTS = (
    Project(
        "jq",
        "C",
        (
            "autoreconf -fi",
            "./configure --disable-maintainer-mode --disable-docs --disable-valgrind",
            "make -j2",
        ),
        "make check && cat tests/*.log",
    ),
    Project(
        "pugixml",
        "C++",
        ("cmake -S . -B out -DPUGIXML_BUILD_TESTS=ON", "cmake --build out -j2"),
        "ctest --test-dir out --verbose",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run of a project's tests."""

    project: str
    way: str
    status: int
    passed: int
    traces: int = 0
    trace_bytes: int = 0
    unreadable: tuple[str, ...] = ()


def shell(command: str, where: Path, environment: Mapping[str, str], log: Path) -> int:
    """Runs a command and appends its output to the log; returns its status."""
    with log.open("a") as output:
        done = subprocess.run(
            ["sh", "-c", command], cwd=where, env=environment, stdout=output, stderr=output
        )
    return done.returncode


def untraced(settings: Settings) -> dict[str, str]:
    found = dict(settings.environment)
    found.pop("HALO_TRACE", None)
    return found


def build(settings: Settings, project: Project, source: Path, compilers: Compilers) -> Path:
    """Builds a copy of the source in place by the project's own commands."""
    built = settings.build / "projects" / project.name / compilers.name
    shutil.rmtree(built, ignore_errors=True)
    shutil.copytree(source, built, symlinks=True)
    environment = {**untraced(settings), "CC": compilers.c, "CXX": compilers.cxx}
    log = built / "halo-build.log"
    for command in project.build:
        if shell(command, built, environment, log):
            sys.exit(f"{project.name} by {compilers.name}: `{command}` failed; see {log}")
    return built


def test(settings: Settings, project: Project, built: Path, way: str, trace: str = "") -> Outcome:
    log = built / f"halo-test-{way}.log"
    log.unlink(missing_ok=True)
    environment = untraced(settings)
    if trace:
        environment["HALO_TRACE"] = trace
    status = shell(project.test, built, environment, log)
    output = log.read_text(errors="replace")
    passed = sum(int(next(filter(None, found.groups()), 1)) for found in PASSED.finditer(output))
    return Outcome(project.name, way, status, passed)


def problem_of(settings: Settings, trace: Path) -> str | None:
    """The problem with the trace, if any; only the end of a large one is checked."""
    if trace.stat().st_size > LARGE:
        return problem_at_the_end(trace)
    command = [str(settings.build / "bin" / "halo-trace"), "info", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    found = json.loads(done.stdout)
    if found["lost"]:
        return f"{found['lost']} events lost"
    # A process that a test killed writes no end.
    return None if found["ending"] != "no-space" else str(found["detail"])


def problem_at_the_end(trace: Path) -> str | None:
    """The problem with the last frame (docs/trace-format.md), if any."""
    with trace.open("rb") as file:
        file.seek(-END.size, 2)
        kind, _, size, _, ending, _, _, lost = END.unpack(file.read())
    if (kind, size) != (END_FRAME, END_NOTE_BYTES):
        return f"{trace.name} has no end"
    return None if (ending, lost) == (COMPLETE, 0) else f"ending {ending}, {lost} events lost"


def test_traced(settings: Settings, project: Project, built: Path) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="halo-projects-", dir=MEMORY) as folder:
        outcome = test(settings, project, built, "written", f"file:{folder}/trace")
        traces = sorted(Path(folder).iterdir())
        problems = [found for path in traces if (found := problem_of(settings, path))]
        return Outcome(
            outcome.project,
            outcome.way,
            outcome.status,
            outcome.passed,
            len(traces),
            sum(path.stat().st_size for path in traces),
            tuple(problems),
        )


def run(settings: Settings, project: Project) -> list[Outcome]:
    fetcher = SourceFetcher(settings.build / "projects" / "apt")
    source = fetcher.fetch(project.name)
    print(f"{source.name} ({project.language})", flush=True)
    outcomes = [test(settings, project, build(settings, project, source, CLANG), "plain")]
    print(as_text(outcomes[-1]), flush=True)
    traced = build(settings, project, source, wrappers(settings))
    outcomes.append(test(settings, project, traced, "unset"))
    print(as_text(outcomes[-1]), flush=True)
    outcomes.append(test_traced(settings, project, traced))
    print(as_text(outcomes[-1]), flush=True)
    return outcomes


def as_text(outcome: Outcome) -> str:
    verdict = "passed" if outcome.status == 0 else f"FAILED with status {outcome.status}"
    line = f"  {outcome.way:8} {outcome.passed:5} tests {verdict}"
    if outcome.traces:
        line += f", {outcome.traces} traces, {outcome.trace_bytes / 1e6:.1f} MB"
    return "\n".join([line, *(f"    a trace: {problem}" for problem in outcome.unreadable)])


def holds(outcomes: Sequence[Outcome]) -> bool:
    """Whether all pass the same tests, and every process wrote a readable trace."""
    plain, *_, written = outcomes
    alike = all(found.status == 0 and found.passed == plain.passed for found in outcomes)
    return alike and plain.passed > 0 and written.traces > 0 and not written.unreadable


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [project.name for project in PROJECTS]
    parser.add_argument("names", nargs="*", default=names, help="default: jq pugixml")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args()
    for name in options.names:
        if name not in names:
            sys.exit(f"there is no project {name}; there are: {', '.join(names)}")
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        sys.exit(f"{', '.join(missing)} missing; to install it: scripts/setup.sh projects")
    settings = read_settings()
    found = [run(settings, project) for project in PROJECTS if project.name in options.names]
    if options.json:
        data = [asdict(outcome) for outcomes in found for outcome in outcomes]
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    return 0 if all(map(holds, found)) else 1


if __name__ == "__main__":
    sys.exit(main())
