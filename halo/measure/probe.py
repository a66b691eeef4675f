"""Probes whether a program is placement-sensitive: times two extremes and the best allocator.

The extremes are independent of the program: every small object goes to one of four pools drawn at
random (HALO, section 5.2, figure 15), or all go to one pool. Both execute the same instructions, so
the difference of their times is an effect of placement; a loss of both against the best allocator
is not.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from statistics import median

from halo.base.errors import Unsuitable
from halo.base.schema.trial import Trial
from halo.base.settings import Settings
from halo.binary.elf import ElfError, build_id_of
from halo.binary.elf.digest import digest_of
from halo.binary.process.allocators import GLIBC_ALONE, Allocator, baseline_allocators
from halo.binary.process.allocators import alone as under_allocator
from halo.measure.findings import WIDE
from halo.measure.first_runs import SHORT, run_first
from halo.measure.placement import THRESHOLD
from halo.measure.racing.sequential import FIRST_LOOK
from halo.measure.reporter import Reporter
from halo.measure.results import left_out, native_remarks
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.rounds import Samples, interleave, walls
from halo.measure.runs.trial_runner import TrialRunner
from halo.measure.statistics import Ratio, ratio, sign_test, summarize
from halo.plan import PlanGroup, PlanModule, drawing_plan, write_plan
from halo.plan.layout import REUSE_NEWEST_FIRST
from halo.plan.runtimes import under_plan
from halo.record.parts import workspace

RANDOM, SINGLE = "4 random pools", "1 pool"
POOLS = {RANDOM: 4, SINGLE: 1}
MAX_OBJECT = 4096  # bytes: HALO's limit, a page
LITTLE = 4096  # bytes: with each object in a line of its own, at most 16 KiB of the first cache
ALIGNMENT = 16  # that of malloc, as there is no proof for less
MAX_ROUNDS = 51
MIN_QUICK, MAX_QUICK = 2, 7  # rounds to find the best baseline allocator
QUICK_SHARE = 0.3  # of the budget
ERROR = 0.025 / 3  # of each comparison: two extremes with the allocator, and with each other


class ProbeAnswer(Enum):
    """The answer from the rounds; the value is the command's exit status."""

    CARES = 0
    DOES_NOT_CARE = 1
    CANNOT_TELL = 2


@dataclass(frozen=True)
class ProbeOptions:
    """The user's options; `evidence` is the folder for outputs of a run that differs."""

    seconds: int
    environment: Mapping[str, str]
    evidence: Path
    cpu: int | None = None
    native: Allocator = GLIBC_ALONE


@dataclass(frozen=True)
class Probe:
    """The measured times: `quick` by allocator, `rounds` of the best and of the extremes over it.

    `warnings` are reasons to doubt the figures, one sentence each. `small_bytes` is the maximum
    size of all small objects at one time, None if it is unknown.
    """

    best: Allocator
    quick: Samples
    rounds: Samples
    warnings: tuple[str, ...] = ()
    small_bytes: int | None = None

    @property
    def has_little_to_place(self) -> bool:
        """Whether all small objects are in the first cache, wherever they are placed."""
        return self.small_bytes is not None and self.small_bytes <= LITTLE

    @property
    def is_too_short(self) -> bool:
        """Whether most of a run is the start of the process."""
        return median(walls(self.rounds[self.best.name])) < SHORT

    @cached_property
    def changes(self) -> dict[str, Ratio]:
        """The ratio of time to that of the best allocator, by extreme."""
        own = walls(self.rounds[self.best.name])
        return {label: ratio(walls(self.rounds[label]), own) for label in POOLS}

    @cached_property
    def between(self) -> Ratio:
        """The ratio of time with random pools to that with one: the effect of placement alone."""
        return ratio(walls(self.rounds[RANDOM]), walls(self.rounds[SINGLE]))

    @cached_property
    def gains(self) -> dict[str, Ratio]:
        """The changes of the extremes that are surely faster than the best allocator."""
        own = walls(self.rounds[self.best.name])
        changes = self.changes.items()
        return {
            label: change
            for label, change in changes
            if change.high < 1 - THRESHOLD
            and rounds_agree(walls(self.rounds[label]), own, 1 - THRESHOLD)
        }

    @cached_property
    def answer(self) -> ProbeAnswer:
        if self.has_little_to_place:
            return ProbeAnswer.DOES_NOT_CARE
        found = judge(self.between, self.changes.values())
        if found is ProbeAnswer.CARES and not (self.gains or self._extremes_differ):
            return ProbeAnswer.CANNOT_TELL
        if found is ProbeAnswer.DOES_NOT_CARE and self.wide:
            return ProbeAnswer.CANNOT_TELL
        return found

    @property
    def _extremes_differ(self) -> bool:
        drawn, single = (walls(self.rounds[label]) for label in (RANDOM, SINGLE))
        if self.between.high < 1 - THRESHOLD:
            return rounds_agree(drawn, single, 1 - THRESHOLD)
        return self.between.low > 1 + THRESHOLD and rounds_agree(single, drawn, 1 / (1 + THRESHOLD))

    @property
    def wide(self) -> dict[str, float]:
        """Wide interquartile ranges by label, as shares of the median."""
        spreads = {label: summarize(walls(found)).spread for label, found in self.rounds.items()}
        return {label: spread for label, spread in spreads.items() if spread > WIDE}


def rounds_agree(times: Sequence[float], others: Sequence[float], most: float) -> bool:
    """Whether the rounds show that a time is below `most` times the other one of its round.

    The interval of a ratio of medians is too narrow if a few rounds have times of two kinds, as on
    a machine that other work slows down now and then.
    """
    count = min(len(times), len(others))
    pairs = zip(times[-count:], others[-count:], strict=True)
    return sign_test(sum(one < most * other for one, other in pairs), count) <= ERROR


def judge(between: Ratio, changes: Collection[Ratio]) -> ProbeAnswer:
    """The answer from the intervals: of the ratio between the extremes, and of the gain of each."""
    low, high = 1 - THRESHOLD, 1 + THRESHOLD
    if between.low > high or between.high < low or any(c.high < low for c in changes):
        return ProbeAnswer.CARES
    if low <= between.low and between.high <= high and all(c.low >= low for c in changes):
        return ProbeAnswer.DOES_NOT_CARE
    return ProbeAnswer.CANNOT_TELL


def probe(settings: Settings, job: Job, options: ProbeOptions, reporter: Reporter) -> Probe:
    """Times the baseline allocators, then the best against the extremes, for about `seconds`.

    Raises `TrialFailed` if an output differs, `Unsuitable` if the runtime has no effect.
    """
    start = time.monotonic()
    with workspace() as scratch, Launcher(options.cpu) as launcher:
        runner = TrialRunner(
            settings, launcher, scratch, options.evidence, fresh=True, remind=reporter.warn
        )
        reporter.stage("timing the baseline allocators")
        plain = {
            allocator: Configuration(
                allocator.name,
                under_allocator(options.environment, allocator),
                optional=allocator.library is not None,
            )
            for allocator in baseline_allocators(options.native)
        }
        configs = list(plain.values())
        first = run_first(runner, launcher, job, configs[0])
        for remark in first.remarks:
            reporter.warn(remark)
        few = rounds_within(QUICK_SHARE * options.seconds, len(configs) * first.seconds)
        trials = min(max(few, MIN_QUICK), MAX_QUICK)
        quick = interleave(runner, job, configs, trials, reporter.notice, warm_up=0)
        running = [allocator for allocator in plain if allocator.name in quick]
        best = min(running, key=lambda allocator: median(walls(quick[allocator.name])))
        alone = replace(plain[best], optional=False)  # what the extremes are compared with
        reporter.stage(f"timing random placement over {best.name}")
        extremes = _extremes(settings, job, options, best, scratch)
        # In the dropped round the runtime counts, and so reports whether it is active.
        taken = runner.measure(job, alone).wall
        for extreme in extremes:
            active = measure_active(runner, job, extreme)
            taken += active.wall
        small = _small_bytes(active)
        rest = options.seconds - (time.monotonic() - start)
        trials = min(max(rounds_within(rest, taken), FIRST_LOOK), MAX_ROUNDS)
        if small is not None and small <= LITTLE:
            trials = FIRST_LOOK  # no times change the answer
        configs = [alone, *extremes]
        rounds = interleave(runner, job, configs, trials, reporter.notice, warm_up=0)
    missing = runner.left_out.items()
    left = [left_out(name, job.target.path.name, why, options.native.name) for name, why in missing]
    own = native_remarks(options.native, job.target.path.name)
    remarks = (*own, *first.remarks, *left, *runner.remarks.values())
    return Probe(best, quick, rounds, remarks, small)


def _small_bytes(trial: Trial) -> int | None:
    """The peak of a run with one pool: the sizes of all small objects at one time.

    None if other processes may have had some. Not all of them report, but they take time.
    """
    groups = trial.runtime.get("groups")
    others = trial.runtime.get("other_processes", 0)
    if not groups or others or 2 * trial.main_processor < trial.user + trial.system:
        return None
    return sum(group["peak_bytes"] for group in groups)


def rounds_within(seconds: float, one_round: float) -> int:
    """The number of rounds of that length that fit; a process needs milliseconds to start."""
    return int(max(seconds, 0.0) / max(one_round, 0.01))


def _extremes(
    settings: Settings, job: Job, options: ProbeOptions, best: Allocator, scratch: Path
) -> list[Configuration]:
    found = []
    for label, pools in POOLS.items():
        path = scratch / f"{pools}.plan"
        groups = [PlanGroup(huge_pages=False, reuse=REUSE_NEWEST_FIRST)] * pools
        write_plan(drawing_plan(groups, MAX_OBJECT, ALIGNMENT, _module_of(job)), path)
        chosen = under_plan(options.environment, settings.runtime, path, best)
        found.append(Configuration(label, chosen))
    return found


def _module_of(job: Job) -> PlanModule | None:
    """The program itself, so that the plan excludes its children; None if it has no build-id."""
    try:
        build_id = build_id_of(job.target.path)
    except (ElfError, OSError):
        return None
    path = str(job.target.path)
    return PlanModule(build_id, path, digest_of(path).layout) if build_id else None


def measure_active(runner: TrialRunner, job: Job, extreme: Configuration) -> Trial:
    """A run; `Unsuitable` if the runtime has no effect in it."""
    sample = runner.measure(job, replace(extreme, reports=True))
    if not sample.runtime.get("active", False):
        reason = sample.runtime.get("reason") or "it left no report"
        raise Unsuitable(
            f"The runtime has no effect on {job.target.name} ({reason}); see why with: halo doctor"
            f" --run -- {job.target.name}"
        )
    return sample
