"""The finding for each program, as one plain sentence, for losses as for gains."""

from __future__ import annotations

from dataclasses import dataclass

from halo.measure.placement import MIN_TRIALS, Answer
from halo.measure.racing.gains import HALO
from halo.report.results import Measurement
from halo.report.results.metrics import fastest_allocator

GAIN, LOSS, NONE, UNCLEAR = "gain", "loss", "none", "unclear"


@dataclass(frozen=True)
class Verdict:
    """The kind of finding, a short form of it, and the sentence."""

    kind: str
    short: str
    sentence: str


def judge(measurement: Measurement) -> Verdict:
    """The finding in the measurement itself, as on the terminal and in the JSON file."""
    if not measurement.summary.verdict.sentence:
        return _older(measurement)
    sentence, speedup = measurement.summary.verdict.sentence, measurement.summary.speedup
    interval = measurement.summary.speedup_interval
    short = f"×{speedup:.2f}" if speedup is not None else "no plan"
    match measurement.summary.verdict.answer:
        case Answer.PLAN_HELPS:
            return Verdict(GAIN, short, sentence)
        case Answer.NO_GAIN:
            return Verdict(LOSS if interval and interval[1] < 1 else NONE, short, sentence)
        case Answer.NOT_SENSITIVE:
            return Verdict(NONE, "no plan", sentence)
        case Answer.ALLOCATORS_ONLY:
            return Verdict(UNCLEAR, fastest_allocator(measurement), sentence)
        case _:
            return Verdict(UNCLEAR, "cannot be told", sentence)


def _older(measurement: Measurement) -> Verdict:
    """The finding for results without one: from the speed-up alone."""
    program, best = measurement.program, fastest_allocator(measurement)
    kept, speedup, interval = (
        measurement.kept,
        measurement.summary.speedup,
        measurement.summary.speedup_interval,
    )
    if kept is None or speedup is None or interval is None:
        sentence = f"Only allocators were measured under {program}; the fastest is {best}."
        return Verdict(UNCLEAR, best, sentence)
    if measurement.keeps_none:
        sentence = (
            f"No plan was kept for {program}. Whether it is"
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
