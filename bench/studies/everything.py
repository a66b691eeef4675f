"""Compares plans that group everything with allocators, on the bundled programs.

everything.py [NAME...] [--plan-strategy S]...   default: `everything` in both layouts

Each program is recorded on its training input. There the fastest allocator is found, and the
fastest of the plans over it. On the reference input that plan runs against the baseline allocators:
interleaved, fresh processes, the first round dropped. A ratio is the best allocator's median over
the plan's: more is better. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.shared.configurations import make_configs
from bench.shared.halo_runs import run_halo
from bench.shared.interleaved import Seconds, measure
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators
from halo.measure.bundled import find_bundled, prepare
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import VARIANTS, choose_variants
from halo.measure.statistics import Ratio, ratio, summarize
from halo.record.profile import read_profile

PROGRAMS = (
    "hospital",
    "scene",
    "rbtree",
    "mesh",
    "pagerank",
    "mst",
    "server",
    "povray",
    "xsltproc",
    "jq",
    "dot",
    "sqlite3",
    "python3",
)
STRATEGIES = ("everything", "everything-by-size")
MIN_RATIO = 0.97  # of every program
MIN_MEAN = 1.05


@dataclass(frozen=True)
class Result:
    """A program on its reference input: seconds of every configuration, and the plan's ratio."""

    program: str
    plan: str
    best: str
    ratio: Ratio
    seconds: Mapping[str, Sequence[float]]

    @property
    def met(self) -> bool:
        return self.ratio.value >= MIN_RATIO


def fastest(seconds: Seconds) -> str:
    return min(seconds, key=lambda label: statistics.median(seconds[label]))


def run_program(settings: Settings, name: str, given: argparse.Namespace, folder: Path) -> Result:
    bundled = find_bundled(settings, name)
    training, reference = prepare(settings, bundled)
    allocators = baseline_allocators()
    profile = folder / "program.profile"
    command = (str(training.target.path), *training.arguments)
    run_halo("record", "-o", str(profile), "--", *command, env=dict(bundled.env))
    variants = [r for r in choose_variants(given.plan_strategy) if r.label in given.plan_strategy]
    plans = {r.label: plan for r, plan, _ in make_plans(read_profile(profile), variants, folder)}
    alone = measure(make_configs(settings, training, bundled.env, allocators, {}), given.training)
    next_one = next(it for it in allocators if it.name == fastest(alone))
    over = {label: (plan, next_one) for label, plan in plans.items()}
    raced = measure(make_configs(settings, training, bundled.env, (), over), given.training)
    chosen = fastest(raced)
    configs = make_configs(settings, reference, bundled.env, allocators, {chosen: over[chosen]})
    seconds = measure(configs, given.trials)
    best = fastest({it.name: seconds[it.name] for it in allocators})
    label = f"{chosen} over {next_one.name}"
    return Result(name, label, best, ratio(seconds[best], seconds[chosen]), seconds)


def as_text(result: Result) -> str:
    found = result.ratio
    times = ", ".join(
        f"{label} {summarize(seconds).median:.3f} ±{50 * summarize(seconds).spread:.0f} %"
        for label, seconds in result.seconds.items()
    )
    return (
        f"{result.program:9} {found.value:.3f} ({found.low:.3f}-{found.high:.3f}) {result.plan};"
        f" best: {result.best}; {times}"
    )


def main() -> int:
    labels = [variant.label for variant in VARIANTS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--plan-strategy", action="append", choices=labels, metavar="S")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    parser.add_argument("--training", type=int, default=5, help="trials on the training input")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    given.plan_strategy = given.plan_strategy or list(STRATEGIES)
    settings = read_settings()
    results: list[Result] = []
    for name in given.names or PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="halo-everything-") as folder:
            results.append(run_program(settings, name, given, Path(folder)))
        print(as_text(results[-1]), flush=True)
    mean = statistics.geometric_mean(result.ratio.value for result in results)
    print(f"geometric mean {mean:.3f}")
    if given.json:
        rows = [asdict(result) for result in results]
        given.json.write_text(json.dumps({"mean": mean, "programs": rows}, indent=2) + "\n")
    return 0 if mean >= MIN_MEAN and all(result.met for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
