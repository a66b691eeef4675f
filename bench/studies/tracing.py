"""Measures the cost of tracing: the slowdown of programs, and bytes per access on disk.

rbtree and hospital, built by the compiler wrappers, against the same compiler's plain -O2: with
HALO_TRACE unset, with events formatted but not written, and with a trace file in memory. Trials are
fresh processes, interleaved. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.shared.interleaved import Configuration, measure
from bench.shared.traced_build import CLANG, GCC, build, wrappers
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled
from halo.measure.statistics import Ratio, Spread, ratio, summarize

PROGRAMS = ("rbtree", "hospital")
MEMORY = Path("/dev/shm")
MAX_SLOWDOWN = {"empty": 5.0, "none": 8.0, "file": 15.0}
MAX_BYTES = 6.0
ACCESSES = ("load", "store", "update", "read-range", "write-range")


@dataclass(frozen=True)
class Row:
    """One configuration of a program, in wall seconds and relative to the first one."""

    way: str
    seconds: Spread
    slowdown: Ratio
    maximum: float | None

    @property
    def met(self) -> bool:
        return self.maximum is None or self.slowdown.value <= self.maximum


@dataclass(frozen=True)
class Found:
    """The cost of tracing one program."""

    program: str
    arguments: tuple[str, ...]
    rows: tuple[Row, ...]
    events: int
    accesses: int
    trace_bytes: int

    @property
    def bytes_an_access(self) -> float:
        return self.trace_bytes / self.accesses

    @property
    def met(self) -> bool:
        return self.bytes_an_access <= MAX_BYTES and all(row.met for row in self.rows)


def untraced(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != "HALO_TRACE"}


def ways_of(
    settings: Settings, name: str, arguments: Sequence[str], trace: Path
) -> list[Configuration]:
    folder = settings.bench / name
    plain, other, traced = (
        build(settings, compilers, folder) for compilers in (CLANG, GCC, wrappers(settings))
    )
    base = untraced(settings.environment)
    return [
        Configuration("native", [plain, *arguments], base),
        Configuration("native gcc", [other, *arguments], base),
        Configuration("empty", [traced, *arguments], base),
        Configuration("none", [traced, *arguments], {**base, "HALO_TRACE": "none"}),
        Configuration(
            "file", [traced, *arguments], {**base, "HALO_TRACE": f"file:{trace}"}, trace.unlink
        ),
    ]


def counts(settings: Settings, trace: Path) -> dict[str, int]:
    """Events in a trace by their kind."""
    command = [str(settings.build / "bin" / "halo-trace"), "info", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"halo-trace info failed: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    if found["ending"] != "complete" or found["lost"]:
        sys.exit(
            f"the trace is not complete: it ended {found['ending']}, {found['lost']} events lost"
        )
    events: dict[str, int] = found["events"]
    return events


def measure_program(settings: Settings, name: str, trials: int) -> Found:
    arguments = find_bundled(settings, name).train
    with tempfile.TemporaryDirectory(prefix="halo-tracing-", dir=MEMORY) as folder:
        trace = Path(folder) / "trace"
        ways = ways_of(settings, name, arguments, trace)
        times = measure(ways, trials)
        last = ways[-1]
        subprocess.run(last.command, env=last.environment, stdout=subprocess.DEVNULL, check=True)
        events, size = counts(settings, trace), trace.stat().st_size
    return Found(
        program=name,
        arguments=tuple(arguments),
        rows=tuple(
            Row(way, summarize(values), ratio(values, times["native"]), MAX_SLOWDOWN.get(way))
            for way, values in times.items()
        ),
        events=sum(events.values()),
        accesses=sum(events.get(kind, 0) for kind in ACCESSES),
        trace_bytes=size,
    )


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def as_text(found: Found) -> str:
    lines = [f"{found.program} {' '.join(found.arguments)}"]
    for row in found.rows:
        spread = f"({row.slowdown.low:.2f} to {row.slowdown.high:.2f})"
        limit = "" if row.maximum is None else f", at most {row.maximum}: {verdict(row.met)}"
        lines.append(
            f"  {row.way:10} {row.seconds.median:8.3f} s "
            f"{row.slowdown.value:7.2f} times native {spread}{limit}"
        )
    each = found.bytes_an_access
    lines.append(
        f"  trace: {found.trace_bytes / 1e6:.1f} MB, {found.events / 1e6:.1f} million events, "
        f"{found.accesses / 1e6:.1f} million accesses"
    )
    lines.append(
        f"  bytes an access: {each:.2f}, at most {MAX_BYTES}: {verdict(each <= MAX_BYTES)}"
    )
    return "\n".join(lines)


def as_data(found: Found) -> dict[str, object]:
    return {**asdict(found), "bytes_an_access": found.bytes_an_access, "met": found.met}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", default=PROGRAMS, help="default: rbtree hospital")
    parser.add_argument("--trials", type=int, default=11, help="runs of each configuration")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    settings = read_settings()
    found = []
    for name in options.programs:
        found.append(measure_program(settings, name, options.trials))
        print(as_text(found[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps([as_data(row) for row in found], indent=2) + "\n")
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
