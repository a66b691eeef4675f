"""Runs the stress patterns of allocators under plans that group everything, and under allocators.

stress.py [NAME...] [--plan-strategy S] [--trials N]   cases, or programs for all cases of theirs

Plans are of the strategy `everything`, in both page layouts, unless others are named. Each program
is recorded on a tiny input that reaches all of its call sites. Trials are fresh processes of
plans and of the baseline allocators, interleaved; each first run is dropped. A ratio is that of a
plan to the best of them: less is better.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.shared.configurations import make_configs
from bench.shared.halo_runs import grouped, run_halo, run_planned
from bench.shared.interleaved import Configuration, interleave
from bench.soak.stress_cases import Case, choose_cases
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators, find_allocator
from halo.binary.process.target import find_target
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import VARIANTS, choose_variants
from halo.measure.runs.job import Job
from halo.measure.statistics import Ratio, ratio, summarize
from halo.plan.runtimes import runtime_of
from halo.record.profile import read_profile

STRATEGIES = tuple(it.label for it in VARIANTS if it.strategy in ("dense", "everything"))
USUAL = ("everything", "everything-by-size")
REST = 1000  # ms after a peak, until resident memory is read
TINY_REST = 5
MIN_GROUPED = 0.9  # of the allocations of a tiny run, under every plan


@dataclass(frozen=True)
class Metric:
    """A figure that programs print, with its heading and scale."""

    key: str
    heading: str
    scale: float = 1.0


METRICS = (
    Metric("seconds", "time, s"),
    Metric("cpu_seconds", "processor, s"),
    Metric("ns_per_operation", "ns an operation"),
    Metric("worst_malloc_ns", "worst malloc, ms", 1e-6),
    Metric("worst_free_ns", "worst free, ms", 1e-6),
    Metric("peak_rss_bytes", "peak, MB", 1e-6),
    Metric("after_rss_bytes", "after, MB", 1e-6),
)
Samples = dict[str, list[float]]
"""Values by configuration, one for each trial."""


@dataclass(frozen=True)
class Row:
    """A figure of a case: its samples, the best allocator, and each plan's ratio to that."""

    case: str
    metric: Metric
    samples: Samples
    best: str
    ratios: Mapping[str, Ratio]


@dataclass(frozen=True)
class Options:
    strategies: Sequence[str]
    over: str
    trials: int
    tiny: bool
    rest: int


def job(settings: Settings, case: Case, arguments: str, rest: int) -> Job:
    program = settings.build / "bench" / "stress" / case.program
    if not program.is_file():
        sys.exit(f"{program} is not built; run: scripts/build.sh everything")
    target = find_target(str(program), settings.environment)
    return Job(target, (*arguments.split(), str(rest)))


def make_everything_grouped(
    settings: Settings, training: Job, strategies: Sequence[str], folder: Path
) -> dict[str, Path]:
    """A plan for each strategy with a distinct one; checks that objects are grouped."""
    profile, stats = folder / "program.profile", folder / "stats"
    command = (str(training.target.path), *training.arguments)
    run_halo("record", "-o", str(profile), "--", *command, env={})
    variants = [variant for variant in choose_variants(strategies) if variant.label in strategies]
    plans = {
        variant.label: plan
        for variant, plan, _ in make_plans(read_profile(profile), variants, folder)
    }
    for label, plan in plans.items():
        printed = run_planned(training, {}, str(runtime_of(settings.runtime, plan)), plan, stats)
        found, made = grouped(json.loads(stats.read_text())), json.loads(printed)["operations"] / 2
        if found < MIN_GROUPED * made:
            sys.exit(f"{label}: only {found} of {made:.0f} allocations were grouped")
    return plans


def measure(ways: Sequence[Configuration], trials: int) -> dict[str, Samples]:
    """The samples of every metric that the program prints."""
    found: dict[str, Samples] = {}
    for trial, label, _, output in interleave(ways, trials):
        for key, value in json.loads(output).items() if trial else ():
            found.setdefault(key, {way.label: [] for way in ways})[label].append(value)
    return found


def make_row(case: Case, metric: Metric, samples: Samples) -> Row:
    allocators = [allocator.name for allocator in baseline_allocators()]
    best = min(allocators, key=lambda name: summarize(samples[name]).median)
    plans = [label for label in samples if label not in allocators]
    ratios = {label: ratio(samples[label], samples[best]) for label in plans}
    return Row(case.name, metric, samples, best, ratios)


def run_case(settings: Settings, case: Case, options: Options, folder: Path) -> list[Row]:
    training = job(settings, case, case.tiny, TINY_REST)
    plans = make_everything_grouped(settings, training, options.strategies, folder)
    measured = training if options.tiny else job(settings, case, case.full, options.rest)
    over = {label: (plan, find_allocator(options.over)) for label, plan in plans.items()}
    ways = make_configs(settings, measured, {}, baseline_allocators(), over)
    found = measure(ways, options.trials)
    return [make_row(case, metric, found[metric.key]) for metric in METRICS if metric.key in found]


def as_text(case: Case, rows: Sequence[Row]) -> str:
    """A table: medians with half of the interquartile range, and ratios with their intervals."""
    first = rows[0]
    heads = [*first.samples, *(f"{label} / best" for label in first.ratios)]
    lines = [f"{case.name:18}" + "".join(f"{head:>21}" for head in heads)]
    for row in rows:
        cells = []
        for values in row.samples.values():
            summary = summarize(values)
            cells.append(f"{summary.median * row.metric.scale:.3f} ±{50 * summary.spread:3.0f} %")
        for found in row.ratios.values():
            cells.append(f"{found.value:.2f} ({found.low:.2f}-{found.high:.2f})")
        lines.append(f"  {row.metric.heading:16}" + "".join(f"{cell:>21}" for cell in cells))
    return "\n".join(lines)


def as_data(row: Row) -> dict[str, Any]:
    return {
        "case": row.case,
        "metric": row.metric.key,
        "best": row.best,
        "ratios": {label: asdict(found) for label, found in row.ratios.items()},
        "summaries": {label: asdict(summarize(found)) for label, found in row.samples.items()},
        "samples": row.samples,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="default: all", metavar="NAME")
    parser.add_argument("--plan-strategy", action="append", choices=STRATEGIES, metavar="S")
    parser.add_argument("--over", default="glibc", help="the next allocator")
    parser.add_argument("--trials", type=int, default=11, help="processes of each configuration")
    parser.add_argument("--rest", type=int, default=REST, help="ms until memory is read")
    parser.add_argument("--tiny", action="store_true", help="measure the training input: quicker")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    strategies = given.plan_strategy or USUAL
    options = Options(strategies, given.over, given.trials, given.tiny, given.rest)
    settings = read_settings()
    rows: list[Row] = []
    for case in choose_cases(given.names):
        with tempfile.TemporaryDirectory(prefix="halo-stress-") as folder:
            found = run_case(settings, case, options, Path(folder))
        print(as_text(case, found), flush=True)
        rows += found
    if given.json:
        data = {"trials": given.trials, "over": given.over, "rows": [as_data(row) for row in rows]}
        given.json.write_text(json.dumps(data, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
