"""The feature table of the objects of call sites, from their recorded contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from halo.captured.births import Rows
from halo.captured.recording import Recording
from halo.captured.sites import Field
from halo.captured.values import Column, column_of
from halo.hints.features import META, PRIMARY, SECONDARY, SIZE, Feature, Place

_UNKNOWN = 0.0
"""Share of the objects with an access to a field: the trace has none by field."""


@dataclass(frozen=True)
class Table:
    """Objects that are studied together, with their fields by whether they are known at the call.

    `name` is that of the objects. `rows` are those of the recording's contents, by number, and
    `places` are the same objects in its layout.
    """

    name: str
    recording: Recording
    rows: Rows
    places: Rows
    fields: Mapping[Field, bool]

    @cached_property
    def columns(self) -> list[Column]:
        """The fields that have values."""
        found = (column_of(field, self.recording.contents, self.rows) for field in self.fields)
        return [column for column in found if column.present.any()]

    @cached_property
    def primary(self) -> list[Feature]:
        """The fields that are not pointers."""
        return [
            Feature(
                name_of(column),
                PRIMARY,
                column.numbers,
                float(self.fields[column.field]),
                _UNKNOWN,
                Place(self.name, (column.field.offset,), column.kind),
            )
            for column in self.columns
            if not column.is_pointer
        ]

    def secondary(self, tables: Mapping[int, Table]) -> list[Feature]:
        """The fields of the neighbours: of the most frequent context of each pointer's.

        `tables` are by the trace's numbers of contexts. A neighbour's field is known at the call if
        the pointer is: the neighbour is older, and has its contents.
        """
        found: list[Feature] = []
        for column in self.columns:
            if column.is_pointer:
                targets = self.recording.targets_of(self.rows, column)
                found += self._behind(column, targets, tables)
        return found

    def _behind(self, column: Column, targets: Rows, tables: Mapping[int, Table]) -> list[Feature]:
        given = targets >= 0
        contexts = self.recording.contents.contexts[targets[given]]
        if not len(contexts):
            return []
        neighbour = tables.get(int(np.bincount(contexts).argmax()))
        if neighbour is None:
            return []
        place = np.searchsorted(neighbour.rows, targets, sorter=neighbour.by_row)
        place = neighbour.by_row[np.minimum(place, len(neighbour.rows) - 1)]
        there = given & (neighbour.rows[place] == targets)
        return [
            replace(
                inner,
                name=f"+{column.field.offset}->{inner.name}",
                group=SECONDARY,
                values=np.where(there, inner.values[place], np.nan),
                known_share=float(self.fields[column.field]),
                place=replace(inner.place, path=(column.field.offset, *inner.place.path)),
            )
            for inner in neighbour.primary
        ]

    @cached_property
    def by_row(self) -> Rows:
        """The order of the objects by their rows."""
        return np.argsort(self.rows, kind="stable")

    @cached_property
    def meta(self) -> list[Feature]:
        """Facts of the objects, as `halo.hints.features` has them."""
        contents, rows = self.recording.contents, self.rows
        numbers = contents.numbers[rows].astype(np.float64)
        facts: dict[str, npt.NDArray[np.float64]] = {
            SIZE: contents.sizes[rows].astype(np.float64),
            "context": contents.contexts[rows].astype(np.float64),
            "address": contents.addresses[rows].astype(np.float64),
            "sequence number": numbers,
            "log2 of sequence number": np.floor(np.log2(np.maximum(numbers, 1))),
        }
        return [
            Feature(name, META, column, 0.0 if name == "address" else 1.0)
            for name, column in facts.items()
        ]

    def of(self, features: Sequence[Feature], objects: npt.NDArray[np.int64]) -> list[Feature]:
        """Features of this table, of the objects with these numbers alone."""
        numbers = self.recording.contents.numbers[self.rows]
        chosen = np.searchsorted(numbers, objects.astype(np.uint64))
        return [replace(one, values=one.values[chosen]) for one in features]


def name_of(column: Column) -> str:
    """The offset and the kind of a field."""
    return f"+{column.field.offset} {column.kind}"
