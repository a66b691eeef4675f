"""Whether contexts of a program pollute the last-level cache, by exact miss rates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from halo.studies.pollution.locality.document import ContextLocality, Locality

POLLUTER_RATE = 0.9
"""Of a context's accesses, as of an object's in src/studies/pollution/monitor/parameters.h."""
MIN_POLLUTION = 0.1
"""Share of all misses that polluting contexts must have."""
MIN_OBJECTS = 0.5
"""Share of all misses that must be to objects."""
LINE = 64
"""Bytes."""


class Answer(Enum):
    """The closed set of verdicts, in the order in which they are tried."""

    FITS = "the cache is hardly used"
    OUTSIDE = "the misses are outside objects"
    POLLUTES = "contexts pollute"
    NONE = "no context pollutes"


@dataclass(frozen=True)
class Verdict:
    """The polluting contexts by number, those with most misses first, and what follows."""

    found: Locality
    polluting: tuple[tuple[int, ContextLocality], ...]

    @property
    def pollution(self) -> float:
        """Share of all misses that polluting contexts have."""
        return sum(one.misses for _, one in self.polluting) / max(1, self.found.misses)

    @property
    def answer(self) -> Answer:
        if self.found.misses <= self.found.cache_bytes // LINE:
            return Answer.FITS
        if self._to_objects < MIN_OBJECTS:
            return Answer.OUTSIDE
        return Answer.POLLUTES if self.pollution >= MIN_POLLUTION else Answer.NONE

    @property
    def pollutes(self) -> bool:
        return self.answer is Answer.POLLUTES

    @property
    def _to_objects(self) -> float:
        return sum(one.misses for one in self.found.contexts) / max(1, self.found.misses)

    @property
    def sentence(self) -> str:
        answer = self.answer
        if answer is Answer.FITS:
            return (
                f"The last-level cache has {self.found.misses:,} misses, not more than it has"
                " lines: it is hardly used."
            )
        if answer is Answer.OUTSIDE:
            share = 1 - self._to_objects
            return f"Memory outside objects has {share:.0%} of the misses: no heap can change that."
        if answer is Answer.POLLUTES:
            count = len(self.polluting)
            one = "1 context pollutes" if count == 1 else f"{count} contexts pollute"
            return (
                f"{one} the last-level cache, with {self.pollution:.0%} of all misses: confining"
                " their objects would leave the cache to others."
            )
        return (
            "No context pollutes the last-level cache: those that miss nearly always have"
            f" {self.pollution:.0%} of all misses."
        )


def judge(found: Locality) -> Verdict:
    """Contexts whose accesses nearly always miss pollute."""
    rates = ((number, one) for number, one in enumerate(found.contexts) if one.accesses)
    polluting = [
        (number, one) for number, one in rates if one.misses >= POLLUTER_RATE * one.accesses
    ]
    polluting.sort(key=lambda it: (-it[1].misses, it[0]))
    return Verdict(found, tuple(polluting))
