"""Checks that the trace tools find the faults of bench/soak/faults; measures the fixed programs.

Each program is traced on a small input; its tool has to name the right field and line first. Then
the program and its repaired variant run interleaved on the default input. Ends with status 1 if a
tool names something else, or if a gain is below its threshold. The measurement needs two idle
cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.shared.interleaved import Configuration, measure
from bench.soak.fault_naming import Fault, Named, ask
from halo.base.settings import Settings, read_settings
from halo.measure.statistics import Ratio, Spread, ratio, summarize

FAULTS = (
    Fault(
        name="arcs",
        repaired="arcs-repaired",
        min_gain=1.3,
        tool="offenders",
        arguments=("40000", "40", "1"),
        owner="Arc",
        fields=("state",),
        file="arcs/pricing.c",
        text="if (network->arcs[i].state == kOpen)",
    ),
    Fault(
        name="particles",
        repaired="particles-repaired",
        min_gain=1.3,
        tool="split",
        arguments=("2000", "400", "400", "1"),
        owner="particles::Particle",
        fields=("next", "ends"),
        file="particles/particle.h",
        text="struct Particle {",
    ),
    Fault(
        name="counters",
        repaired="counters-repaired",
        min_gain=1.5,
        tool="sharing",
        arguments=("500", "3000", "40", "2", "1"),
        owner="statistics",
        fields=("look_ups",),
        file="counters/statistics.c",
        text="atomic_fetch_add_explicit(&statistics.look_ups",
        sharing="true",
    ),
    Fault(
        name="counters-adjacent",
        repaired="counters-repaired",
        min_gain=1.5,
        tool="sharing",
        arguments=("500", "3000", "40", "2", "1"),
        owner="statistics[]",
        fields=("look_ups",),
        file="counters-adjacent/counters/statistics.c",
        text="atomic_fetch_add_explicit(&statistics[worker].look_ups",
        sharing="false",
        variant_of="counters",
    ),
)


@dataclass(frozen=True)
class Gain:
    """Wall seconds of both programs, and the speed-up of the repaired one."""

    name: str
    faulty: Spread
    repaired: Spread
    gain: Ratio
    minimum: float

    @property
    def met(self) -> bool:
        return self.gain.value >= self.minimum


def measure_gain(settings: Settings, fault: Fault, trials: int) -> Gain:
    configs = []
    for name in (fault.name, fault.repaired):
        program = settings.build / "bench" / name
        if not program.is_file():
            sys.exit(f"{program} is not built; run: scripts/build.sh everything")
        configs.append(Configuration(name, [program], settings.environment))
    times = measure(configs, trials)
    faulty, repaired = times[fault.name], times[fault.repaired]
    return Gain(
        name=fault.name,
        faulty=summarize(faulty),
        repaired=summarize(repaired),
        gain=ratio(faulty, repaired),
        minimum=fault.min_gain,
    )


def as_text(gains: Sequence[Gain]) -> str:
    lines = [f"{'program':18} {'faulty, s':>10} {'repaired, s':>12} {'times faster':>13}"]
    for row in gains:
        spread = f"({row.gain.low:.2f} to {row.gain.high:.2f})"
        verdict = "met" if row.met else "MISSED"
        lines.append(
            f"{row.name:18} {row.faulty.median:10.2f} {row.repaired.median:12.2f} "
            f"{row.gain.value:13.2f} {spread}, at least {row.minimum}: {verdict}"
        )
    return "\n".join(lines)


def as_sentence(named: Named) -> str:
    verdict = "met" if named.met else f"MISSED: it is {named.wanted}"
    tool = f"halo study trace {named.tool}"
    return f"{named.name}: {tool} names {named.named}: {verdict}\n  {named.suggestion}"


def ask_all(settings: Settings, faults: Sequence[Fault]) -> list[Named]:
    found = []
    for fault in faults:
        with tempfile.TemporaryDirectory(prefix="halo-faults-") as scratch:
            found.append(ask(settings, fault, Path(scratch)))
        print(as_sentence(found[-1]), flush=True)
    return found


def choose(names: Sequence[str]) -> Sequence[Fault]:
    known = {fault.name: fault for fault in FAULTS}
    for name in names:
        if name not in known:
            sys.exit(f"there is no faulty program {name}; there are: {', '.join(known)}")
    return [known[name] for name in names] or FAULTS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="default: all", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="runs of each program; 0: none")
    parser.add_argument("--no-tools", action="store_true", help="measure alone")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    settings = read_settings()
    chosen = choose(options.names)
    named = [] if options.no_tools else ask_all(settings, chosen)
    measured = chosen if options.trials else []
    gains = [measure_gain(settings, fault, options.trials) for fault in measured]
    if gains:
        print(as_text(gains))
    results: list[Named | Gain] = [*named, *gains]
    if options.json:
        data = [{**asdict(row), "met": row.met} for row in results]
        options.json.write_text(json.dumps(data, indent=2) + "\n")
    return 0 if all(row.met for row in results) else 1


if __name__ == "__main__":
    sys.exit(main())
