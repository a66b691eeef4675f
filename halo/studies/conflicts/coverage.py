"""State coverage of predictors: which states of a run recur (Yardımcı and Kaeli, section 3.1)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.record.profile import Profile
from halo.record.profile.call_stacks import Stack, build_of, call_stacks
from halo.studies.conflicts.coverage_document import PredictorCoverage

GRANULE = 8
"""Sizes are rounded up to a multiple of this."""


@dataclass(frozen=True)
class Predictor:
    """Maps an allocation to a state: by its stack, by its size, or by both."""

    name: str
    state: Callable[[Stack], Hashable]
    sized: bool = False


def _depth(stack: Stack) -> Hashable:
    return stack.depth


def _call_site(stack: Stack) -> Hashable:
    return stack.sites[:1]


def _call_stack(stack: Stack) -> Hashable:
    return stack.sites


def _nothing(stack: Stack) -> Hashable:
    return None


PREDICTORS: Sequence[Predictor] = (
    Predictor("stack depth", _depth),
    Predictor("call site", _call_site),
    Predictor("size", _nothing, sized=True),
    Predictor("call stack", _call_stack),
    Predictor("stack depth + size", _depth, sized=True),
    Predictor("call site + size", _call_site, sized=True),
    Predictor("call stack + size", _call_stack, sized=True),
)


def check_same_program(training: Profile, reference: Profile, paths: tuple[Path, Path]) -> None:
    """Raises `BadInput` if the profiles are of different programs or of different builds."""
    names = f"{paths[0]} and {paths[1]}"
    if os.path.realpath(training.program) != os.path.realpath(reference.program):
        raise BadInput(
            f"{names} are of different programs, {training.program} and {reference.program}; give"
            " two profiles of one program."
        )
    builds = {build_of(training), build_of(reference)} - {""}
    if len(builds) > 1:
        raise BadInput(
            f"{names} are of different builds of {reference.program}; record both with one build."
        )


def measure_coverage(training: Profile, reference: Profile) -> tuple[PredictorCoverage, ...]:
    """The coverage of each predictor."""
    found = []
    for predictor in PREDICTORS:
        known, wanted = states_of(training, predictor), states_of(reference, predictor)
        both = known.keys() & wanted.keys()
        found.append(
            PredictorCoverage(
                predictor=predictor.name,
                training=len(known),
                both=len(both),
                reference=len(wanted),
                coverage=state_coverage(len(both), len(wanted)),
                allocations=sum(wanted[state] for state in both) / max(1, wanted.total()),
            )
        )
    return tuple(found)


def state_coverage(both: int, reference: int) -> float:
    """1 - (m + k) / (n + k), for n states of which n - m recur, and n + k in the reference run.

    As m + k = (n + k) - (n - m), this is the share of the reference run's states in both. It is 0
    without a state in the reference run.
    """
    return both / reference if reference else 0.0


def states_of(profile: Profile, predictor: Predictor) -> Counter[Hashable]:
    """The allocations of a run by state; of a predictor with a size, those with a listed size."""
    found: Counter[Hashable] = Counter()
    for context, stack in call_stacks(profile):
        state = predictor.state(stack)
        if not predictor.sized:
            found[state] += context.allocations
            continue
        for size, count in context.sizes:
            found[state, -(-size // GRANULE) * GRANULE] += count
    return found


def unlisted_share(profile: Profile) -> float:
    """The share of allocations, 0 to 1, whose size is not among those of their context."""
    contexts = profile.contexts
    left = sum(max(0, it.allocations - sum(count for _, count in it.sizes)) for it in contexts)
    return left / max(1, sum(context.allocations for context in contexts))
