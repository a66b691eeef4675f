"""The section of the object trace: its file, and how it numbers the contexts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from halo.base.errors import BadProfile, BadTrace
from halo.base.schema.document import Damaged, convert
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


class ObjectTrace(Struct, frozen=True):
    """`contexts` are pairs of a context of the profile and its number in the trace, ascending.

    `bytes` is the size of the file, which tells it from the trace of another run; 0: not known.
    """

    file: str
    contexts: tuple[tuple[Count, Count], ...]
    bytes: Count = 0


class ObjectTraceSection(Section[ObjectTrace]):
    """Absent unless `halo record --objects` records it."""

    key = "object_trace"

    def read(self, checks: Checks, contexts: int, frames: int) -> ObjectTrace:
        try:
            found = convert(checks.document[self.key], ObjectTrace, self.key)
        except Damaged as error:
            checks.bad(str(error))
        if any(context >= contexts for context, _ in found.contexts):
            checks.bad("a context of the object trace is out of range")
        if len({number for _, number in found.contexts}) < len(found.contexts):
            checks.bad("the object trace has a number of two contexts")
        return _found(found, Path(checks.name).parent)

    def write(self, value: ObjectTrace) -> dict[str, Any]:
        document: dict[str, Any] = to_builtins(value)
        return document

    def combine(self, found: Sequence[tuple[Part, ObjectTrace]]) -> ObjectTrace:
        """The section of the one process that was traced."""
        if len(found) > 1:
            raise BadProfile("There are several object traces, and a profile has that of one run.")
        [(part, value)] = found
        pairs = ((part.contexts[context], number) for context, number in value.contexts)
        return ObjectTrace(value.file, tuple(sorted(pairs)), value.bytes)

    def repeated(self, value: ObjectTrace, times: int) -> ObjectTrace:
        return value


def _found(trace: ObjectTrace, folder: Path) -> ObjectTrace:
    """The trace, with the file of that name in the profile's folder if its own file is gone."""
    beside = folder / Path(trace.file).name
    if Path(trace.file).exists() or not beside.is_file():
        return trace
    return replace(trace, file=str(beside.absolute()))


OBJECT_TRACE = ObjectTraceSection()


def check_file(trace: ObjectTrace) -> None:
    """Raises `BadTrace` if the file is missing, or is not the one that was recorded."""
    again = "record again with: halo record --objects"
    try:
        size = os.stat(trace.file).st_size
    except OSError as error:
        raise BadTrace(
            f"The object trace {trace.file} cannot be read ({error.strerror}), and none of that"
            f" name is beside the profile; {again}."
        ) from error
    if trace.bytes not in (0, size):
        raise BadTrace(
            f"{trace.file} is not the trace that was recorded with the profile; {again}."
        )
