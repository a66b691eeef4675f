"""One thing the doctor has to say of a program: its weight, its sentence and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halo.errors import HaloError, Unsuitable


class Weight(Enum):
    """How much a finding matters; the value is what the report shows."""

    FINE = "OK"
    NOTE = "note"
    REFUSAL = "no"


@dataclass(frozen=True)
class Finding:
    """`error` is the kind of failure that a refusal stands for: it gives the exit status."""

    what: str
    weight: Weight
    sentence: str
    way_out: str = ""
    error: type[HaloError] = Unsuitable


def fine(what: str, sentence: str) -> Finding:
    """Nothing in the way."""
    return Finding(what, Weight.FINE, sentence)


def note(what: str, sentence: str, way_out: str) -> Finding:
    """The runtime works, but does less than one might think, or something to keep in mind."""
    return Finding(what, Weight.NOTE, sentence, way_out)


def refusal(what: str, sentence: str, way_out: str, error: type[HaloError] = Unsuitable) -> Finding:
    """The runtime cannot help, or would be dangerous."""
    return Finding(what, Weight.REFUSAL, sentence, way_out, error)


def refusal_of(what: str, error: HaloError, otherwise: str = "give another program") -> Finding:
    """The refusal that an error of halo's stands for; its sentence has the way out after `; `."""
    cause, _, way_out = str(error).rstrip(".").partition("; ")
    return refusal(what, cause, way_out or otherwise, type(error))


def listed(names: list[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 others`."""
    shown, more = names[:most], len(names) - most
    if more > 0:
        return f"{', '.join(shown)} and {more} other{'s' if more > 1 else ''}"
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""
