"""Sections of named counts, which are added up over the parts of a profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


class Counts(Section[Mapping[str, int]]):
    """The section of a sink that only counts."""

    refers_to_stacks = False

    def __init__(self, key: str) -> None:
        self.key = key

    def read(self, checks: Checks, contexts: int, frames: int) -> Mapping[str, int]:
        raw = checks.object(self.key)
        return {name: checks.count(raw, name) for name in raw}

    def write(self, value: Mapping[str, int]) -> Mapping[str, int]:
        return dict(sorted(value.items()))

    def combine(self, found: Sequence[tuple[Part, Mapping[str, int]]]) -> Mapping[str, int]:
        return sum((Counter(value) for _, value in found), Counter())

    def repeated(self, value: Mapping[str, int], times: int) -> Mapping[str, int]:
        return {name: times * count for name, count in value.items()}
