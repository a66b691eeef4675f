"""Whether the program mapped memory for code that it generates at run time."""

from __future__ import annotations

from collections.abc import Sequence

from halo.record.profile.checks import Checks
from halo.record.profile.sections.loaded import parts_of
from halo.record.profile.sections.section import Part, Section


class GeneratedCodeSection(Section[bool]):
    """Absent if it did not, or if that was not recorded."""

    key = "generated_code"
    refers_to_stacks = False
    needs_all = False

    def read(self, checks: Checks, contexts: int, frames: int) -> bool:
        if checks.document[self.key] is not True:
            checks.bad("generated_code is not true")
        return True

    def write(self, value: bool) -> bool:
        return value

    def merge(self, parts: Sequence[Part], program: str) -> bool | None:
        """Whether a process of the program did, other programs that it started aside."""
        return any(self.of(part.profile) for part in parts_of(program, parts)) or None

    def repeated(self, value: bool, times: int) -> bool:
        return value


GENERATED_CODE = GeneratedCodeSection()
