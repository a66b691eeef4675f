"""Names states by their allocation contexts and block sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from halo.record.profile import Conflicts, Profile, name_frames
from halo.record.profile.sections.conflicts import RecordedState
from halo.record.profile.site_labels import ARROW, DEEPEST, SHOWN, parse_site

OUTSIDE_NAME = "outside tracked objects"
OTHER_SIZES = "other sizes"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class StateName:
    """The allocating functions in short, the block size, and the call sites, innermost first."""

    site: str
    size: str
    stack: tuple[str, ...]


StateNames = Mapping[int, StateName]
"""By the number of the state."""


def name_states(profile: Profile, conflicts: Conflicts, numbers: Iterable[int]) -> StateNames:
    """The names of these states."""
    states = {number: conflicts.states[number] for number in numbers}
    contexts = sorted({it.context for it in states.values() if it.context is not None})
    stacks = {context: list(profile.stack(context))[:DEEPEST] for context in contexts}
    frames = name_frames(profile, {frame for stack in stacks.values() for frame in stack})
    sites = {context: tuple(frames[it] for it in stack) for context, stack in stacks.items()}
    return {
        number: StateName(OUTSIDE_NAME, "", ())
        if state.context is None
        else StateName(_label_of(sites[state.context]), size_name(state), sites[state.context])
        for number, state in states.items()
    }


def _label_of(stack: tuple[str, ...]) -> str:
    """The innermost call sites as functions with lines."""
    return ARROW.join(str(parse_site(name)) for name in stack[:SHOWN]) or UNKNOWN


def size_name(state: RecordedState) -> str:
    return f"{state.size:,}" if state.size else OTHER_SIZES


def label(number: int, name: StateName) -> str:
    """The state in one line: number, function, size."""
    if not name.size:
        return f"{number}: {name.site}"
    unit = "" if name.size == OTHER_SIZES else " bytes"
    return f"{number}: {name.site}, {name.size}{unit}"
