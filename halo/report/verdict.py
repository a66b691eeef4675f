"""What was found, as one plain sentence for each program; losses as plainly as gains."""

from __future__ import annotations

from dataclasses import dataclass

from halo.results import Measurement
from halo.results.metrics import fastest_allocator
from halo.results.model import HALO
from halo.trials.table import FEWEST_TRIALS

GAIN, LOSS, NONE, UNCLEAR = "gain", "loss", "none", "unclear"


@dataclass(frozen=True)
class Verdict:
    """The kind of finding, a word or figure for it, and the sentence."""

    kind: str
    short: str
    sentence: str


def judge(measurement: Measurement) -> Verdict:
    """The finding, from the interval of the speed-up over the best of the allocators."""
    program, best = measurement.program, fastest_allocator(measurement)
    kept, speedup, interval = measurement.kept, measurement.speedup, measurement.speedup_interval
    if kept is None or speedup is None or interval is None:
        sentence = f"Only allocators were measured under {program}; the fastest is {best}."
        return Verdict(UNCLEAR, best, sentence)
    times = f"{speedup:.2f} times as fast as the fastest allocator, {best}"
    between = f"(95 % interval {interval[0]:.2f} to {interval[1]:.2f})"
    if measurement.keeps_none:
        return _without_plan(measurement, best, f"{times} {between}", interval[1] < 1)
    if len(measurement.reference[HALO]) < FEWEST_TRIALS:
        sentence = f"{program} was measured too few times to conclude anything."
        return Verdict(UNCLEAR, "too few trials", sentence)
    what = f"the plan '{kept.candidate}' over {kept.allocator}"
    short = f"×{speedup:.2f}"
    if interval[0] > 1:
        sentence = f"{program} cares about placement: with {what} it is {times} {between}."
        return Verdict(GAIN, short, sentence)
    if interval[1] < 1:
        sentence = (
            f"{program} loses: with {what} it is only {times} {between}. What was gained on the"
            f" training input did not carry over to the reference input; use {best}."
        )
        return Verdict(LOSS, short, sentence)
    sentence = (
        f"{program} gains nothing that shows: with {what} it is {times} {between}, which may be"
        " no difference at all."
    )
    return Verdict(UNCLEAR, short, sentence)


def _without_plan(measurement: Measurement, best: str, times: str, worse: bool) -> Verdict:
    program, kept = measurement.program, measurement.kept
    assert kept is not None
    if not measurement.plans_tried:
        sentence = f"No plan was tried for {program}; the fastest allocator is {best}."
        return Verdict(UNCLEAR, "no plan", sentence)
    sentence = (
        f"{program} does not care about placement: none of {measurement.plans_tried} plans was"
        f" measurably faster on the training input than an allocator alone. Run it with {best}."
    )
    if worse:
        sentence += (
            f" The allocator that was best on the training input, {kept.allocator}, is only {times}"
            " on the reference input."
        )
    return Verdict(LOSS if worse else NONE, "no plan", sentence)
