"""One line of the doctor's report about the machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """The state of a part; the value is its text in the report."""

    OK = "OK"
    MISSING = "missing"
    NOTE = "note"  # not needed, and something is lost without it
    OPTIONAL = "optional"  # absent, and needed only for the commands that the line names
    INFO = "info"  # neither good nor bad


@dataclass(frozen=True)
class Check:
    """A part of the machine, its state, and how to fix or install it."""

    what: str
    state: State
    detail: str
    fix: str = ""


def judged(good: bool, otherwise: State) -> State:
    """`OK`, or the state of a part that is not good."""
    return State.OK if good else otherwise
