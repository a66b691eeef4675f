"""A finding of the doctor about a program: its weight, its sentence and the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halo.base.errors import HaloError, Unsuitable


class Weight(Enum):
    """The severity of a finding; the value is its text in the report."""

    FINE = "OK"
    NOTE = "note"
    REFUSAL = "no"


@dataclass(frozen=True)
class Finding:
    """A finding; `error` is the failure of a refusal, which determines the exit status."""

    what: str
    weight: Weight
    sentence: str
    way_out: str = ""
    error: type[HaloError] = Unsuitable


def fine(what: str, sentence: str) -> Finding:
    """A finding without a problem."""
    return Finding(what, Weight.FINE, sentence)


def note(what: str, sentence: str, way_out: str) -> Finding:
    """A finding about a limit: the runtime works, but has less effect than expected."""
    return Finding(what, Weight.NOTE, sentence, way_out)


def refusal(what: str, sentence: str, way_out: str, error: type[HaloError] = Unsuitable) -> Finding:
    """A finding that the runtime has no effect, or would be dangerous."""
    return Finding(what, Weight.REFUSAL, sentence, way_out, error)


def refusal_of(what: str, error: HaloError, otherwise: str = "give another program") -> Finding:
    """The refusal for an error, whose sentence has the remedy behind `; `."""
    cause, _, way_out = str(error).rstrip(".").partition("; ")
    return refusal(what, cause, way_out or otherwise, type(error))


def listed(names: list[str], maximum: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 others`."""
    first, more = names[:maximum], len(names) - maximum
    if more > 0:
        return f"{', '.join(first)} and {more} other{'s' if more > 1 else ''}"
    return " and ".join(filter(None, (", ".join(first[:-1]), first[-1]))) if first else ""
