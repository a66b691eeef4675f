"""Shows that what the trace tools suggest makes the programs of bench/faults faster.

Each program and its repaired variant are measured against each other, interleaved. Ends with status
1 where one gains less than it has to. It needs two cores that nothing else uses.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from interleaved import Way, measure

from halo.settings import Settings, read_settings
from halo.trials.statistics import Ratio, Summary, ratio, summarize


@dataclass(frozen=True)
class Fault:
    """A program, and how many times faster it has to be without its fault."""

    name: str
    repaired: str
    least_gain: float


FAULTS = (
    Fault("arcs", "arcs-repaired", 1.3),
    Fault("particles", "particles-repaired", 1.3),
    Fault("counters", "counters-repaired", 1.5),
)


@dataclass(frozen=True)
class Gain:
    """Wall seconds of both, and how many times faster the repaired program is."""

    name: str
    faulty: Summary
    repaired: Summary
    gain: Ratio
    least: float

    @property
    def met(self) -> bool:
        return self.gain.value >= self.least


def measure_gain(settings: Settings, fault: Fault, trials: int) -> Gain:
    ways = []
    for name in (fault.name, fault.repaired):
        program = settings.build / "bench" / name
        if not program.is_file():
            sys.exit(f"{program} is not built; run: make build")
        ways.append(Way(name, [program], settings.environment))
    times = measure(ways, trials)
    faulty, repaired = times[fault.name], times[fault.repaired]
    return Gain(
        name=fault.name,
        faulty=summarize(faulty),
        repaired=summarize(repaired),
        gain=ratio(faulty, repaired),
        least=fault.least_gain,
    )


def as_text(gains: Sequence[Gain]) -> str:
    lines = [f"{'program':12} {'faulty, s':>10} {'repaired, s':>12} {'times faster':>13}"]
    for row in gains:
        spread = f"({row.gain.low:.2f} to {row.gain.high:.2f})"
        verdict = "met" if row.met else "MISSED"
        lines.append(
            f"{row.name:12} {row.faulty.median:10.2f} {row.repaired.median:12.2f} "
            f"{row.gain.value:13.2f} {spread}, at least {row.least}: {verdict}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="default: all", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="runs of each program")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    known = {fault.name: fault for fault in FAULTS}
    for name in options.names:
        if name not in known:
            sys.exit(f"there is no faulty program {name}; there are: {', '.join(known)}")
    settings = read_settings()
    chosen = [known[name] for name in options.names] or FAULTS
    gains = [measure_gain(settings, fault, options.trials) for fault in chosen]
    print(as_text(gains))
    if options.json:
        data = [{**asdict(row), "met": row.met} for row in gains]
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    return 0 if all(row.met for row in gains) else 1


if __name__ == "__main__":
    sys.exit(main())
