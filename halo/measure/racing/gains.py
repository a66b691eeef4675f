"""Compares the trials of an answer by its deciding clock, and finds what to use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import chain
from statistics import median

from halo.base.schema.trial import Trial
from halo.measure.racing.clock import deciding_clock
from halo.measure.racing.sequential import TWO_SIDED, Gain, paired_gain

HALO = "halo"
"""The label of the kept plan among the trials of an answer; the others are allocators' names."""
SLOWER = 0.02  # more time than the fastest that less memory may cost
SAVING = 0.01  # less peak memory than this is noise


class Objective(StrEnum):
    """What is to be least."""

    TIME = "time"
    MEMORY = "memory"


def gain_of(trials: Mapping[str, Sequence[Trial]], one: str, other: str) -> Gain:
    """How many times as fast the first is as the other, in the rounds of both."""
    mine, others = trials.get(one, ()), trials.get(other, ())
    rounds = min(len(mine), len(others))
    clock = deciding_clock(chain.from_iterable(trials.values()))  # one for all comparisons
    seconds = [[clock(trial) for trial in found[:rounds]] for found in (others, mine)]
    return paired_gain(*seconds)


def surely_faster(trials: Mapping[str, Sequence[Trial]], one: str, other: str) -> bool:
    """Whether there are enough rounds of both, and the first is certainly faster."""
    return gain_of(trials, one, other).exceeds(1.0, TWO_SIDED)


def fastest_of(trials: Mapping[str, Sequence[Trial]], names: Sequence[str]) -> str | None:
    """Of these, the one with the least time relative to the first that has trials."""
    known = [name for name in names if trials.get(name)]
    if not known:
        return None
    return max(known, key=lambda name: gain_of(trials, name, known[0]).mean)


def recommended(
    trials: Mapping[str, Sequence[Trial]],
    native: str,
    has_plan: bool,
    objective: Objective = Objective.TIME,
) -> str:
    """The label to use: `HALO` for the plan, or the name of an allocator, with its setting.

    Something else than the program's own only if it is certainly better.
    """
    names = [native, *(it for it in trials if it != native and (it != HALO or has_plan))]
    known = [name for name in names if trials.get(name)]
    if not known:
        return native
    return (
        _least(trials, native, known) if objective is Objective.MEMORY else _fastest(trials, known)
    )


def _fastest(trials: Mapping[str, Sequence[Trial]], names: Sequence[str]) -> str:
    """The plan, if it is certainly faster than the allocator that would be used instead."""
    native, alone = names[0], [name for name in names if name != HALO]
    best = fastest_of(trials, alone) or native
    instead = best if best != native and surely_faster(trials, best, native) else native
    helps = HALO in names and surely_faster(trials, HALO, instead)
    return HALO if helps and gain_of(trials, HALO, best).mean > 0 else instead


def _least(trials: Mapping[str, Sequence[Trial]], native: str, names: Sequence[str]) -> str:
    """The least peak memory of those that are at most SLOWER than the fastest."""
    near = near_fastest(trials, names)
    least = min(near, key=lambda name: peak_memory(trials[name]))
    saves = peak_memory(trials[least]) < (1 - SAVING) * peak_memory(trials.get(native, ()))
    return least if saves or native not in near else native


def near_fastest(trials: Mapping[str, Sequence[Trial]], names: Sequence[str]) -> list[str]:
    """Those that take at most SLOWER more time than the fastest, by their estimates."""
    fastest = fastest_of(trials, names)
    assert fastest is not None
    limit = -math.log(1 + SLOWER)
    return [name for name in names if gain_of(trials, name, fastest).mean >= limit]


def peak_memory(trials: Sequence[Trial]) -> float:
    """The median peak, in bytes; 0 without trials."""
    return median(trial.peak_memory for trial in trials) if trials else 0.0
