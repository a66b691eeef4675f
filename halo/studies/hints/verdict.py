"""Verdicts about a type: a closed set, each with the sentence that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halo.studies.hints.kinds import Kind

MIN_LEARNT = 0.1
"""Normalised accuracy from which a correlation counts."""
ENOUGH = 0.9
"""Share of the normalised accuracy that a smaller set of features must have to replace a larger."""
MIN_KNOWN_SHARE = 0.5
"""The same, for all features that are known at birth."""
MAX_COPIES = 0.1
"""Share of copies among the writes, from which objects move."""
MIN_ARRAYS = 0.5
"""Share of the accesses that go to arrays, from which their elements count."""
MIN_UNNAMED = 0.9
"""Share of the accesses to no field, from which a buffer is opaque."""


class Verdict(Enum):
    """What to do about the placement of a type's objects."""

    USE_HINT = "use hint"
    NOT_AT_BIRTH = "correlated, but not known at allocation"
    ALREADY = "already laid out so"
    BY_SIZE = "bin by size"
    ARRAYS = "objects are array elements"
    MOVE = "objects move"
    OPAQUE = "opaque buffers"
    NONE = "no correlation"


_SENTENCES = {
    Verdict.USE_HINT: "Pass the hint to the allocator.",
    Verdict.NOT_AT_BIRTH: "What predicts the community is written later, so an allocator cannot"
    " use it.",
    Verdict.ALREADY: "Addresses or the order of allocation predict the community as well: the"
    " layout is right.",
    Verdict.BY_SIZE: "The size predicts the community as well: separate size classes are enough.",
    Verdict.ARRAYS: "Elements of arrays cannot be moved one by one.",
    Verdict.MOVE: "The program copies these objects, so their first place does not last.",
    Verdict.OPAQUE: "Most accesses are to bytes, numbers or pointers outside structures, so there"
    " are few fields to learn from.",
    Verdict.NONE: "The values of the fields do not predict which objects are used together.",
}


def sentence_of(verdict: Verdict) -> str:
    """One sentence for a person."""
    return _SENTENCES[verdict]


def verdict_of_accesses(kind: Kind) -> Verdict | None:
    """What the accesses to a type's objects rule out, before anything is learnt."""
    if kind.unnamed >= MIN_UNNAMED * kind.accesses:
        return Verdict.OPAQUE
    if kind.copies > MAX_COPIES * kind.writes:
        return Verdict.MOVE
    if kind.to_arrays >= MIN_ARRAYS * kind.accesses:
        return Verdict.ARRAYS
    return None


@dataclass(frozen=True)
class Findings:
    """Normalised accuracies: of all features, and of subsets of them.

    `permuted`: of all features, with permuted labels. `known`: of the fields that are known at
    birth. `position`: of address and sequence number. `size`: of the size.
    """

    everything: float
    permuted: float
    known: float
    position: float
    size: float


def verdict_of(found: Findings) -> Verdict:
    """What the forests have found."""
    best = max(found.everything, found.known, found.position, found.size)
    if best < MIN_LEARNT or best <= found.permuted:
        return Verdict.NONE
    if found.position >= ENOUGH * best:
        return Verdict.ALREADY
    if found.size >= ENOUGH * best:
        return Verdict.BY_SIZE
    if found.known < max(MIN_LEARNT, MIN_KNOWN_SHARE * best):
        return Verdict.NOT_AT_BIRTH
    return Verdict.USE_HINT
