"""Whether a program cares where its objects lie: two extremes, timed against the best allocator.

The extremes know nothing of the program: every small object goes to one of four pools drawn at
random (HALO, figure 15), or all go to one. Both execute the same instructions for it, so whatever
lies between their times is placement, and what both lose against the best allocator is not.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from statistics import median

from halo.allocators import Allocator, four_allocators, preload, under_plan
from halo.elf import ElfError, build_id_of
from halo.errors import Unsuitable
from halo.plan import PlanGroup, PlanModule, drawing_plan, write_plan
from halo.plan.model import REUSE_NEWEST
from halo.recording import workspace
from halo.settings import Settings
from halo.trials.findings import WIDE
from halo.trials.first_runs import run_first
from halo.trials.job import Contender, Job
from halo.trials.laboratory import Laboratory
from halo.trials.launcher import Launcher
from halo.trials.placement import MIN_TRIALS, THRESHOLD
from halo.trials.reporter import Reporter
from halo.trials.results import left_out
from halo.trials.rounds import Samples, interleave, walls
from halo.trials.statistics import Ratio, ratio, summarize

RANDOM, SINGLE = "4 random pools", "1 pool"
POOLS = {RANDOM: 4, SINGLE: 1}
MAX_OBJECT = 4096  # bytes: the paper's limit, a page
ALIGNMENT = 16  # what malloc promises: nothing is known that would allow less
MAX_ROUNDS = 51
FEWEST_QUICK, MOST_QUICK = 2, 7  # rounds that find the best of the four
QUICK_SHARE = 0.3  # of the budget


class Answer(Enum):
    """What the rounds say; the value is the command's exit status."""

    CARES = 0
    DOES_NOT_CARE = 1
    CANNOT_TELL = 2


@dataclass(frozen=True)
class ProbeOptions:
    """What the user can set about a probe; `evidence` is for the outputs of a run that differs."""

    seconds: int
    environment: Mapping[str, str]
    evidence: Path
    cpu: int | None = None


@dataclass(frozen=True)
class Probe:
    """What was measured: `quick` by allocator, `rounds` of the best and of the extremes over it.

    `warnings` are whatever makes the figures doubtful, one sentence each.
    """

    best: Allocator
    quick: Samples
    rounds: Samples
    warnings: tuple[str, ...] = ()

    @property
    def changes(self) -> dict[str, Ratio]:
        """By extreme, its time over that of the best allocator."""
        own = walls(self.rounds[self.best.name])
        return {label: ratio(walls(self.rounds[label]), own) for label in POOLS}

    @property
    def between(self) -> Ratio:
        """The time with random pools over that with one: what placement alone makes of it."""
        return ratio(walls(self.rounds[RANDOM]), walls(self.rounds[SINGLE]))

    @property
    def answer(self) -> Answer:
        found = judge(self.between, self.changes.values())
        return Answer.CANNOT_TELL if found is Answer.DOES_NOT_CARE and self.wide else found

    @property
    def wide(self) -> dict[str, float]:
        """By label, an interquartile range that is wide for its median."""
        spreads = {label: summarize(walls(found)).spread for label, found in self.rounds.items()}
        return {label: spread for label, spread in spreads.items() if spread > WIDE}


def judge(between: Ratio, changes: Collection[Ratio]) -> Answer:
    """The answer by what lies between the extremes and by what either of them gains already."""
    low, high = 1 - THRESHOLD, 1 + THRESHOLD
    if between.low > high or between.high < low or any(c.high < low for c in changes):
        return Answer.CARES
    if low <= between.low and between.high <= high and all(c.low >= low for c in changes):
        return Answer.DOES_NOT_CARE
    return Answer.CANNOT_TELL


def probe(settings: Settings, job: Job, options: ProbeOptions, reporter: Reporter) -> Probe:
    """Times the four, then the best of them against the extremes, for about `seconds`.

    Raises `TrialFailed` where an output differs, `Unsuitable` where the runtime has no effect.
    """
    start = time.monotonic()
    with workspace() as scratch, Launcher(options.cpu) as launcher:
        laboratory = Laboratory(settings, launcher, scratch, options.evidence, fresh=True)
        reporter.stage("timing the four allocators")
        plain = {
            allocator: Contender(
                allocator.name,
                preload(options.environment, [allocator.library]),
                optional=allocator.library is not None,
            )
            for allocator in four_allocators()
        }
        contenders = list(plain.values())
        first = run_first(laboratory, launcher, job, contenders[0])
        for remark in first.remarks:
            reporter.warn(remark)
        few = rounds_within(QUICK_SHARE * options.seconds, len(contenders) * first.seconds)
        trials = min(max(few, FEWEST_QUICK), MOST_QUICK)
        quick = interleave(laboratory, job, contenders, trials, reporter.notice, warm_up=0)
        running = [allocator for allocator in plain if allocator.name in quick]
        best = min(running, key=lambda allocator: median(walls(quick[allocator.name])))
        reporter.stage(f"timing random placement over {best.name}")
        extremes = _extremes(settings, job, options, best, scratch)
        # The dropped round, in which the runtime counts and so tells whether it is at work.
        taken = laboratory.measure(job, plain[best]).wall
        for extreme in extremes:
            taken += _measure_active(laboratory, job, extreme)
        rest = options.seconds - (time.monotonic() - start)
        trials = min(max(rounds_within(rest, taken), MIN_TRIALS), MAX_ROUNDS)
        contenders = [plain[best], *extremes]
        rounds = interleave(laboratory, job, contenders, trials, reporter.notice, warm_up=0)
    missing = laboratory.left_out.items()
    left = [left_out(name, job.target.path.name, why) for name, why in missing]
    return Probe(best, quick, rounds, (*first.remarks, *left, *laboratory.remarks.values()))


def rounds_within(seconds: float, one_round: float) -> int:
    """How many rounds of that length fit; a process takes some milliseconds to start and end."""
    return int(max(seconds, 0.0) / max(one_round, 0.01))


def _extremes(
    settings: Settings, job: Job, options: ProbeOptions, best: Allocator, scratch: Path
) -> list[Contender]:
    found = []
    for label, pools in POOLS.items():
        path = scratch / f"{pools}.plan"
        groups = [PlanGroup(huge_pages=False, reuse=REUSE_NEWEST)] * pools
        write_plan(drawing_plan(groups, MAX_OBJECT, ALIGNMENT, _module_of(job)), path)
        chosen = under_plan(options.environment, settings.runtime, path, best)
        found.append(Contender(label, chosen))
    return found


def _module_of(job: Job) -> PlanModule | None:
    """The program itself, so that what it starts runs as without us; None: it has no build-id."""
    try:
        build_id = build_id_of(job.target.path)
    except (ElfError, OSError):
        return None
    return PlanModule(build_id, str(job.target.path)) if build_id else None


def _measure_active(laboratory: Laboratory, job: Job, extreme: Contender) -> float:
    sample = laboratory.measure(job, replace(extreme, reports=True))
    if not sample.runtime.get("active", False):
        reason = sample.runtime.get("reason") or "it left no report"
        raise Unsuitable(
            f"The runtime has no effect on {job.target.name} ({reason}); see why with: halo doctor"
            f" --run -- {job.target.name}"
        )
    return sample.wall
