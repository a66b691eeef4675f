"""Records programs that the recorder was not tuned for, and compares their output with native runs.

untuned.py [NAME...] [--trials N] [--engine NAME]

Compares exit status, standard output, standard error without halo's own lines, and all files that
the program leaves. Fresh processes, interleaved; a recorded run is all of `halo record`. Ends with
status 1 if a result differs or a program is missing.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from soak import digests
from untuned_programs import PROGRAMS, Missing, Program, Work

from halo.base.settings import Settings, read_settings

NATIVE, RECORDED = "native", "recorded"


@dataclass(frozen=True)
class Result:
    """What a run shows: exit status (negative: a signal), streams, digests of files by path."""

    status: int
    output: bytes
    errors: bytes
    files: dict[str, str]

    def difference(self, other: Result) -> str:
        """What differs, in words; empty if nothing does."""
        pairs = {
            "status": (self.status, other.status),
            "output": (self.output, other.output),
            "errors": (self.errors, other.errors),
            "files": (self.files, other.files),
        }
        return ", ".join(name for name, (ours, theirs) in pairs.items() if ours != theirs)


class Seconds(NamedTuple):
    """The time of a run: wall, and processor."""

    wall: float
    processor: float


def without_halo(errors: bytes) -> bytes:
    """Standard error without the lines of `halo record`."""
    lines = errors.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith((b"halo:", b"Next:")))


def last_line(text: bytes) -> str:
    return text.decode(errors="replace").strip().rpartition("\n")[2]


def processor_seconds() -> float:
    """Of all children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(
    settings: Settings, work: Work, recorder: Sequence[str], folder: Path
) -> tuple[Seconds, Result]:
    """Runs the work, natively or under the recorder, in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with work.stdin.open("rb") as stdin:
        start, used = time.perf_counter(), processor_seconds()
        done = subprocess.run(
            [*work.prefix, *recorder, *work.command],
            cwd=folder,
            env={**settings.environment, "LC_ALL": "C.UTF-8", **work.environment},
            stdin=stdin,
            capture_output=True,
        )
        seconds = Seconds(time.perf_counter() - start, processor_seconds() - used)
    errors = without_halo(done.stderr)
    return seconds, Result(done.returncode, done.stdout, errors, digests(folder))


def compare(settings: Settings, program: Program, options: Sequence[str], trials: int) -> str:
    """Prints the row of the program; returns what differs, or an empty text."""
    seconds: dict[str, list[Seconds]] = {NATIVE: [], RECORDED: []}
    with tempfile.TemporaryDirectory(prefix="halo-untuned-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # postgres does not run as root
        inputs = folder / "inputs"
        inputs.mkdir()
        profile = folder / "program.profile"
        recorder = [str(settings.repository / "bin" / "halo"), "record", *options]
        ways = {NATIVE: [], RECORDED: [*recorder, "-o", str(profile), "--"]}
        with program.prepare(inputs) as work:
            _, expected = run(settings, work, [], folder / "work")
            if expected.status != work.status:
                return f"alone it ends with status {expected.status}: {last_line(expected.errors)}"
            for _ in range(trials):
                for way in random.sample(list(ways), len(ways)):
                    took, result = run(settings, work, ways[way], folder / "work")
                    seconds[way].append(took)
                    if differs := expected.difference(result):
                        return f"{way}: other {differs}: {last_line(result.errors)}"
            if not profile.exists():
                return "no profile was written"
    print(row(program.name, seconds[NATIVE], seconds[RECORDED]), flush=True)
    return ""


def row(name: str, native: Sequence[Seconds], recorded: Sequence[Seconds]) -> str:
    """A row of the table, from the runs of each round."""
    medians = [statistics.median(run.wall for run in runs) for runs in (native, recorded)]
    wall = [two.wall / one.wall for one, two in zip(native, recorded, strict=True)]
    processor = [two.processor / one.processor for one, two in zip(native, recorded, strict=True)]
    ratios = [
        f"{statistics.median(of):.1f} ({min(of):.1f}–{max(of):.1f})" for of in (wall, processor)
    ]
    return f"| {name} | {medians[0]:.2f} | {medians[1]:.2f} | {ratios[0]} | {ratios[1]} |"


def main() -> int:
    known = {program.name: program for program in PROGRAMS}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--engine")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"there is no program {unknown[0]}; there are: {', '.join(known)}")
    options = ["--engine", given.engine] if given.engine else []
    problems = []
    print("| program | native s | recorded s | times native (range) | processor time |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in given.names or known:
        try:
            problem = compare(read_settings(), known[name], options, given.trials)
        except Missing as missing:
            problem = f"{missing}, or run: scripts/setup.sh untuned"
        if problem:
            problems.append(f"{name}: {problem}")
    print("\n" + "\n".join(problems or ["all results are those of the programs alone"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
