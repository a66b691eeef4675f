"""The JSON of analyses of traces: a table, further tables, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from halo.base.schema.values import Cell, Count, Number

FORMAT, VERSION = "halo-analysis", 1
COMPLETE = "complete"
"""The ending of a trace that has all of a run."""

Columns = Annotated[tuple[str, ...], Meta(min_length=1)]
Rows = tuple[tuple[Cell, ...] | dict[str, Cell], ...]


class Table(Struct, frozen=True):
    """A further table."""

    columns: Columns  # their names
    rows: Rows  # a list each, or an object


class AnalysedTrace(Struct, frozen=True):
    """The trace, as in docs/trace-columns.md."""

    arguments: tuple[str, ...] = ()  # of the program
    build_id: str = ""  # of the program
    events: Count = 0  # number of events
    lost: Count = 0  # events that the trace lacks
    ending: str = COMPLETE  # `complete`, or why it is not
    detail: str = ""  # the same as a sentence


class SplitClass(Struct, frozen=True, kw_only=True):
    """A class of `halo study trace split`; the keys from `hot_bytes` on are of a split class."""

    label: str = field(name="class")  # of its rows; with file and line if not unique
    kind: str = ""  # for instance `struct`
    file: str  # of the declaration
    line: Count = 0  # of the declaration
    bytes: Count  # its size
    accesses: Count  # to its objects
    live: bool = False  # whether it has enough accesses
    split: bool  # whether it is divided
    finding: str = ""  # the decision in words, as in docs/analyses.md
    reason: str  # the same as a sentence
    hot_from: Number | None = None  # accesses of a hot field; `null`: none was marked
    per_line: Number = 0.0  # objects in a line of 64 bytes
    allocations: Count = 0  # of this class
    largest_array: Count = 0  # elements
    hot_bytes: Count | UnsetType = UNSET  # size of the hot part, with the pointer
    cold_bytes: Count | UnsetType = UNSET  # size of the cold part
    hot_per_line: Number | UnsetType = UNSET  # hot parts in a line of 64 bytes
    indirect: Count | UnsetType = UNSET  # accesses that go through the added pointer
    gain: str | UnsetType = UNSET  # the gain of the split, as a sentence
    suggestion: str | UnsetType = UNSET  # both structures as C text

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""


class Analysis(Struct, frozen=True, kw_only=True):
    """The JSON of `halo study trace offenders`, `sharing`, `split` and `analyse`."""

    format: str = FORMAT  # `halo-analysis`
    version: int = VERSION  # 1
    analysis: str  # its name
    program: str  # its name
    trace: AnalysedTrace = AnalysedTrace()  # the analysed trace
    machine: Mapping[str, Any] = {}  # the simulated machine; empty if nothing was simulated
    columns: Columns  # of the report
    rows: Rows  # of the report: a list each, or an object
    details: Mapping[str, Table] = {}  # further tables, by name
    findings: tuple[str, ...] = ()  # the suggestions, as sentences
    accesses: Count | UnsetType = UNSET  # `split`: all accesses
    accessed_classes: Count | UnsetType = UNSET  # `split`: number of classes with accesses
    classes: tuple[SplitClass, ...] | UnsetType = UNSET  # `split`: the classes shown
