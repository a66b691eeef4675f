"""Measures what spreading blocks over the cache sets costs programs without conflicts.

spreading.py [NAME...]   bundled programs under `dense` by size, blocks spread against adjacent ones

Each program is recorded on its training input, and the allocator that is the fastest there is the
next one. Both plans run on the reference input: interleaved, fresh processes, the first round
dropped. The ratio of times is the median of adjacent blocks over that of spread ones: more is
better. Memory is the sum of the groups' peaks of resident memory. Ends with status 1 if a threshold
is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from configurations import make_configs
from everything import PROGRAMS, fastest
from evidence import halo as run_halo
from interleaved import measure

from halo.base.schema.trial import Trial
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import Allocator, baseline_allocators, under_plan
from halo.measure.bundled import Bundled, find_bundled, prepare
from halo.measure.candidates import PlanVariant, make_plans
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.laboratory import Laboratory
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.rounds import interleave
from halo.measure.statistics import Ratio, ratio
from halo.record.profile import read_profile

ADVERSARIES = ("scan", "churn")
PLANS = (
    PlanVariant("adjacent", "dense", {"by_size": "true", "phase": "none"}),
    PlanVariant("spread", "dense", {"by_size": "true"}),
)
MIN_SPEEDUP = 0.99
MAX_MEMORY = 1.03


@dataclass(frozen=True)
class Result:
    """A program: the ratio of times, and the groups' resident peaks in bytes, both ways."""

    program: str
    next_allocator: str
    speedup: Ratio
    adjacent_bytes: float
    spread_bytes: float

    @property
    def memory(self) -> float:
        return self.spread_bytes / self.adjacent_bytes

    @property
    def met(self) -> bool:
        return self.speedup.value >= MIN_SPEEDUP and self.memory <= MAX_MEMORY

    def __str__(self) -> str:
        found = self.speedup
        return (
            f"{self.program:12} over {self.next_allocator:8} {found.value:.3f}"
            f" ({found.low:.3f}-{found.high:.3f}), {self.adjacent_bytes / 1e6:.2f} ->"
            f" {self.spread_bytes / 1e6:.2f} MB: {self.memory:.3f}{'' if self.met else ' MISSED'}"
        )


def peak(trials: Sequence[Trial]) -> float:
    """The median of the groups' peaks of resident bytes, summed."""
    return statistics.median(
        sum(pool["peak_resident_bytes"] for pool in trial.pools) for trial in trials
    )


def next_allocator(settings: Settings, training: Job, bundled: Bundled, trials: int) -> Allocator:
    allocators = baseline_allocators()
    alone = measure(make_configs(settings, training, bundled.env, allocators, {}), trials)
    return next(it for it in allocators if it.name == fastest(alone))


def run_program(settings: Settings, name: str, given: argparse.Namespace, folder: Path) -> Result:
    bundled = find_bundled(settings, name)
    training, reference = prepare(settings, bundled)
    profile = folder / "program.profile"
    command = (str(training.target.path), *training.arguments)
    run_halo("record", "-o", str(profile), "--", *command, env=dict(bundled.env))
    allocator = next_allocator(settings, training, bundled, given.training)
    environment = {**settings.environment, **bundled.env}
    configs = [
        Configuration(
            variant.label,
            under_plan(environment, settings.runtime, plan, allocator),
            reports=True,
            needs_cooldown=True,
        )
        for variant, plan, _ in make_plans(read_profile(profile), PLANS, folder)
    ]
    with Launcher(given.cpu) as launcher:
        laboratory = Laboratory(settings, launcher, folder, folder)
        trials = interleave(laboratory, reference, configs, given.trials)
    seconds = {label: [trial.wall for trial in found] for label, found in trials.items()}
    return Result(
        name,
        allocator.name,
        ratio(seconds["adjacent"], seconds["spread"]),
        peak(trials["adjacent"]),
        peak(trials["spread"]),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    parser.add_argument("--training", type=int, default=5, help="trials on the training input")
    parser.add_argument("--cpu", type=int, help="processor that runs the trials")
    given = parser.parse_args()
    settings = read_settings()
    met = True
    for name in given.names or (*PROGRAMS, *ADVERSARIES):
        with tempfile.TemporaryDirectory(prefix="halo-spreading-") as folder:
            result = run_program(settings, name, given, Path(folder))
        print(result, flush=True)
        met &= result.met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
