"""Checks whether a plan makes a program fast enough: rounds with it and without, until it is sure.

Each round runs the program once under the plan over its next allocator, and once under that
allocator alone, in random order. The speed-up is the median of the ratios within rounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from statistics import median

from halo.base.schema.trial import Trial
from halo.base.settings import Settings
from halo.binary.process.allocators import GLIBC, Allocator, preload
from halo.binary.process.allocators import alone as under_allocator
from halo.measure.checks.clock import Clock, chosen_clock, seconds
from halo.measure.checks.sequential import (
    Interval,
    Side,
    interval,
    is_sure,
    minimum_values,
    side_of,
)
from halo.measure.first_runs import run_first
from halo.measure.probe import measure_active
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.rounds import Samples, Span, interleave
from halo.measure.runs.trial_runner import TrialRunner
from halo.plan import Plan
from halo.plan.runtimes import under_plan
from halo.record.parts import workspace

MAX_ROUNDS = 2000  # of advice; more would hardly lead to an answer
MARGIN = 1.2  # seconds to advise, over those expected


class CheckAnswer(Enum):
    """Whether the plan helps enough; the value is the command's exit status."""

    HELPS = 0
    DOES_NOT_HELP = 1
    CANNOT_TELL = 2


_ANSWERS = {
    Side.NOT_BELOW: CheckAnswer.HELPS,
    Side.BELOW: CheckAnswer.DOES_NOT_HELP,
    Side.UNKNOWN: CheckAnswer.CANNOT_TELL,
}


@dataclass(frozen=True)
class CheckOptions:
    """The user's options; `evidence` is the folder for outputs of a run that differs.

    `min_speedup` is a ratio of times by that clock, `native` the allocator without halo.
    """

    min_speedup: float
    seconds: int
    environment: Mapping[str, str]
    evidence: Path
    cpu: int | None = None
    clock: Clock = Clock.AUTO
    native: str = GLIBC


@dataclass(frozen=True)
class PlanCheck:
    """The rounds: `planned[i]` and `alone[i]` are the trials of round i.

    `seconds` is the time of everything so far, `round_seconds` that of a round. `warnings` are
    reasons to doubt the figures, one sentence each.
    """

    allocator: Allocator
    min_speedup: float
    clock: Clock
    planned: Sequence[Trial]
    alone: Sequence[Trial]
    seconds: float
    round_seconds: float
    warnings: tuple[str, ...] = ()

    @cached_property
    def times(self) -> tuple[list[float], list[float]]:
        """Seconds by round, under the plan and without it."""
        return seconds(self.planned, self.clock), seconds(self.alone, self.clock)

    @cached_property
    def ratios(self) -> list[float]:
        """The speed-up of each round."""
        return speedups(*self.times)

    @property
    def speedup(self) -> float | None:
        """The median of the rounds; None without a round."""
        return median(self.ratios) if self.planned else None

    @cached_property
    def interval(self) -> Interval:
        return interval(self.ratios)

    @cached_property
    def answer(self) -> CheckAnswer:
        return _ANSWERS[side_of(self.ratios, self.min_speedup)]

    @cached_property
    def needed_seconds(self) -> int | None:
        """A budget that is expected to suffice, in seconds; None if the speed-up is too near."""
        rounds = needed_rounds(self.ratios, self.min_speedup)
        if rounds is None:
            return None
        before = self.seconds - len(self.planned) * self.round_seconds
        return 10 * math.ceil(MARGIN * (before + rounds * self.round_seconds) / 10)


def speedups(planned: Sequence[float], alone: Sequence[float]) -> list[float]:
    """The ratio of times of each round; 1 if a clock was too coarse for both."""
    return [
        own / mine if mine > 0 else math.inf if own > 0 else 1.0
        for mine, own in zip(planned, alone, strict=True)
    ]


def needed_rounds(ratios: Sequence[float], threshold: float) -> int | None:
    """The rounds after which such ratios would decide, or None."""
    count = len(ratios)
    if not count:
        return minimum_values()
    above = sum(ratio > threshold for ratio in ratios)
    below = sum(ratio < threshold for ratio in ratios)
    share = max(above, below) / count
    enough = (n for n in range(minimum_values(), MAX_ROUNDS) if is_sure(int(share * n), n))
    return next(enough, None)


def check(
    settings: Settings,
    job: Job,
    path: Path,
    plan: Plan,
    allocator: Allocator,
    options: CheckOptions,
    reporter: Reporter,
) -> PlanCheck:
    """Runs rounds until the answer is sure, or the next one would exceed the budget.

    Raises `TrialFailed` if the program fails or an output differs, `Unsuitable` if the runtime has
    no effect.
    """
    start = time.monotonic()
    with workspace() as scratch, Launcher(options.cpu) as launcher:
        runner = TrialRunner(settings, launcher, scratch, options.evidence, fresh=True)
        native = Configuration(options.native, preload(options.environment, [None]))
        alone = Configuration(
            f"{allocator.name} alone", under_allocator(options.environment, allocator)
        )
        planned = Configuration(
            f"{path.name} over {allocator.name}",
            under_plan(options.environment, settings.runtime, path, allocator),
            reports=True,
            needs_cooldown=any(group.huge_pages for group in plan.groups),
        )
        reporter.stage(f"running it under {options.native} first")
        first = run_first(runner, launcher, job, native)
        for remark in first.remarks:
            reporter.warn(remark)
        begin = time.monotonic()
        trials = [runner.measure(job, alone), measure_active(runner, job, planned)]
        clock = chosen_clock(options.clock, trials)
        warm_up = time.monotonic() - begin

        def run(number: int, rounds: int) -> Samples:
            span = Span(2 * number, 2 * rounds)
            configs = [planned, alone]
            return interleave(runner, job, configs, 1, reporter.notice, warm_up=0, span=span)

        reporter.stage(f"timing it under {planned.label}, and without the plan")
        budget = CheckBudget(start, options.seconds, warm_up)
        labels = (planned.label, alone.label)
        samples = run_rounds(run, labels, budget, options.min_speedup, clock)
    return PlanCheck(
        allocator,
        options.min_speedup,
        clock,
        samples[planned.label],
        samples[alone.label],
        time.monotonic() - start,
        budget.round_seconds,
        (*first.remarks, *runner.remarks.values()),
    )


class CheckBudget:
    """The budget of a check; `start` in monotonic seconds, `warm_up` the time of a first round."""

    def __init__(
        self,
        start: float,
        budget: float,
        warm_up: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._end = start + budget
        self._warm_up = warm_up
        self._now = now
        self._begin = self._last = now()
        self._rounds = 0

    @property
    def round_seconds(self) -> float:
        """The mean time of a round."""
        if not self._rounds:
            return self._warm_up
        return (self._last - self._begin) / self._rounds

    def tick(self) -> None:
        """A round has ended."""
        self._rounds += 1
        self._last = self._now()

    def left(self) -> int:
        """How many rounds fit into the rest of the budget."""
        return int(max(0.0, self._end - self._now()) / max(self.round_seconds, 0.001))


def run_rounds(
    run: Callable[[int, int], Samples],
    labels: tuple[str, str],
    budget: CheckBudget,
    min_speedup: float,
    clock: Clock,
) -> Samples:
    """Rounds until the answer is sure, or none fits into the rest of the budget.

    `run` runs the round of that number; the second argument is how many there may be. `labels`: of
    the plan, and of the allocator alone.
    """
    samples: Samples = {label: [] for label in labels}
    number = 0
    while (left := budget.left()) > 0:
        for label, trials in run(number, number + left).items():
            samples[label].extend(trials)
        number += 1
        budget.tick()
        planned, alone = (seconds(samples[label], clock) for label in labels)
        if side_of(speedups(planned, alone), min_speedup) is not Side.UNKNOWN:
            break
    return samples
