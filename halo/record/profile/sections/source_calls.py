"""The recorded program's calls in its source, by which another build's calls are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, to_builtins

from halo.base.schema.document import Damaged, convert
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


class SourceCall(Struct, frozen=True, array_like=True):
    """A call in the source: function and callee by linkage name, the file's name, the line.

    `callee` is empty, and `first`, the line where the function begins, is 0 if it is unknown.
    """

    function: str
    file: str
    line: Count
    first: Count
    callee: str


class SourceCalls(Struct, frozen=True):
    """The real path of the recorded program, and its calls by return address in that file.

    The calls of an address are the call itself, then those inlined around it.
    """

    program: str
    calls: tuple[tuple[Count, tuple[SourceCall, ...]], ...]


class SourceCallsSection(Section[SourceCalls]):
    """Absent if the recorded program has no debug information, or no tool here reads it."""

    key = "source_calls"

    def read(self, checks: Checks, contexts: int, frames: int) -> SourceCalls:
        try:
            found = convert(checks.document[self.key], SourceCalls, self.key)
        except Damaged as error:
            checks.bad(str(error))
        if not all(calls for _, calls in found.calls):
            checks.bad(f"{self.key} has a return address without a call")
        return found

    def write(self, value: SourceCalls) -> dict[str, Any]:
        document: dict[str, Any] = to_builtins(value)
        return document

    def combine(self, found: Sequence[tuple[Part, SourceCalls]]) -> SourceCalls:
        """The calls of all parts, which are of one build."""
        every = {address: calls for _, value in found for address, calls in value.calls}
        return SourceCalls(found[0][1].program, tuple(sorted(every.items())))

    def repeated(self, value: SourceCalls, times: int) -> SourceCalls:
        return value


SOURCE_CALLS = SourceCallsSection()
