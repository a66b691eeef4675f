"""What was found, as one plain sentence for each program; losses as plainly as gains."""

from __future__ import annotations

from dataclasses import dataclass

from halo.results import Measurement
from halo.results.metrics import fastest_allocator
from halo.results.model import HALO
from halo.trials.placement import MIN_TRIALS, Answer

GAIN, LOSS, NONE, UNCLEAR = "gain", "loss", "none", "unclear"


@dataclass(frozen=True)
class Verdict:
    """The kind of finding, a word or figure for it, and the sentence."""

    kind: str
    short: str
    sentence: str


def judge(measurement: Measurement) -> Verdict:
    """The finding that the measurement itself came to, as terminal and JSON say it."""
    if not measurement.sentence:
        return _older(measurement)
    sentence, speedup = measurement.sentence, measurement.speedup
    interval = measurement.speedup_interval
    short = f"×{speedup:.2f}" if speedup is not None else "no plan"
    match measurement.answer:
        case Answer.PLAN_HELPS.value:
            return Verdict(GAIN, short, sentence)
        case Answer.NO_GAIN.value:
            return Verdict(LOSS if interval and interval[1] < 1 else NONE, short, sentence)
        case Answer.NOT_SENSITIVE.value:
            return Verdict(NONE, "no plan", sentence)
        case Answer.ALLOCATORS_ONLY.value:
            return Verdict(UNCLEAR, fastest_allocator(measurement), sentence)
        case _:
            return Verdict(UNCLEAR, "cannot be told", sentence)


def _older(measurement: Measurement) -> Verdict:
    """Of results that say nothing themselves: only what the speed-up shows by itself."""
    program, best = measurement.program, fastest_allocator(measurement)
    kept, speedup, interval = measurement.kept, measurement.speedup, measurement.speedup_interval
    if kept is None or speedup is None or interval is None:
        sentence = f"Only allocators were measured under {program}; the fastest is {best}."
        return Verdict(UNCLEAR, best, sentence)
    if measurement.keeps_none:
        sentence = (
            f"No plan was kept for {program}: halo is {kept.allocator} alone here. Whether it is"
            f" placement-sensitive is not in these results; the fastest allocator is {best}."
        )
        return Verdict(LOSS if interval[1] < 1 else UNCLEAR, "no plan", sentence)
    sentence = (
        f"{program}: with the plan '{kept.candidate}' over {kept.allocator} it is {speedup:.2f}"
        f" times as fast as the fastest allocator, {best} (95 % interval {interval[0]:.2f} to"
        f" {interval[1]:.2f})."
    )
    if len(measurement.reference[HALO]) < MIN_TRIALS or interval[0] <= 1 <= interval[1]:
        return Verdict(UNCLEAR, "cannot be told", f"{sentence} That allows no conclusion.")
    return Verdict(GAIN if interval[0] > 1 else LOSS, f"×{speedup:.2f}", sentence)
