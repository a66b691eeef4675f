"""The inputs that a profile was merged from, each a run of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from halo.base.schema.document import Damaged, convert
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


class InputRun(Struct, frozen=True, order=True):
    """A recorded run: its arguments, its accesses, and how often it counts in the profile."""

    args: tuple[str, ...]
    accesses: Count
    repeats: Count = 1


InputRuns = tuple[InputRun, ...]


class InputsSection(Section[InputRuns]):
    """Absent unless `halo merge` made the profile of several inputs."""

    key = "inputs"
    refers_to_stacks = False

    def read(self, checks: Checks, contexts: int, frames: int) -> InputRuns:
        try:
            return convert(checks.document[self.key], InputRuns, self.key)
        except Damaged as error:
            checks.bad(str(error))

    def write(self, value: InputRuns) -> list[dict[str, Any]]:
        document: list[dict[str, Any]] = to_builtins(value)
        return document

    def combine(self, found: Sequence[tuple[Part, InputRuns]]) -> InputRuns:
        return tuple(sorted(run for _, runs in found for run in runs))

    def repeated(self, value: InputRuns, times: int) -> InputRuns:
        return tuple(replace(run, repeats=times * run.repeats) for run in value)


INPUTS = InputsSection()
