"""The interface of the sections of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from halo.record.profile.checks import Checks
from halo.record.profile.model import Profile

T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """A part, with the merged ids of its contexts and frames by its own ids.

    `merged_contexts` is the number of contexts in the merged profile.
    """

    profile: Profile
    contexts: Sequence[int]
    frames: Sequence[int]
    merged_contexts: int


class Section(Generic[T]):
    """A key of the profile that only its module interprets; absent unless recorded."""

    key: str
    refers_to_stacks = True
    """Whether it contains ids of contexts or frames."""
    needs_all = True
    """Whether a profile of several inputs has it only if the profiles of all inputs have it."""

    def of(self, profile: Profile) -> T | None:
        found: T | None = profile.sections.get(self.key)
        return found

    def read(self, checks: Checks, contexts: int, frames: int) -> T:
        """Parses and checks the section of a document that has it."""
        raise NotImplementedError

    def write(self, value: T) -> Any:
        """The JSON of the section."""
        raise NotImplementedError

    def merge(self, parts: Sequence[Part], program: str) -> T | None:
        """The section of all parts, independently of their order; None if no part has it."""
        found = [(part, value) for part in parts if (value := self.of(part.profile)) is not None]
        return self.combine(found) if found else None

    def combine(self, found: Sequence[tuple[Part, T]]) -> T:
        """As `merge`, for the parts that have it, at least one.

        Raises `BadProfile` if the parts do not fit together.
        """
        raise NotImplementedError

    def repeated(self, value: T, times: int) -> T:
        """The section of a run that was repeated that often: counts of events are multiplied.

        Peaks, limits and numbers of different things stay.
        """
        raise NotImplementedError
