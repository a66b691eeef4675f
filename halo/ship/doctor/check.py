"""One line of the doctor's report about the machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CheckState(Enum):
    """The state of a part; the value is its text in the report."""

    OK = "OK"
    MISSING = "missing"
    NOTE = "note"  # not needed, and something is lost without it
    OPTIONAL = "optional"  # absent, and needed only for the commands that the line names
    INFO = "info"  # neither good nor bad


@dataclass(frozen=True)
class MachineCheck:
    """A part of the machine, its state, and how to fix or install it."""

    what: str
    state: CheckState
    detail: str
    fix: str = ""


def judged(good: bool, otherwise: CheckState) -> CheckState:
    """`OK`, or the state of a part that is not good."""
    return CheckState.OK if good else otherwise
