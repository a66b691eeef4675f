"""The feature table of a type: its fields, those of its neighbours, and facts of its objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from halo.studies.hints.leaves import FieldTable, Shape, shape_of
from halo.studies.hints.values import FieldValues, Objects, field_values
from halo.studies.tracing.analyses.engines.duckdb import quoted
from halo.studies.tracing.analyses.trace_tables import TraceTables

_INDEX = re.compile(r"\[\d+\](?=.*->)")
PRIMARY, SECONDARY, META, NOISE = "primary", "secondary", "meta", "noise"
POSITION = ("address", "sequence number", "log2 of sequence number")
SIZE = "size"
MIN_KNOWN = 0.99
"""Share of the objects for which a feature must be known at birth."""
MIN_SEEN = 0.5
"""Share of the objects of which the trace must show a field's value."""
MIN_POINTS = 0.5
"""Share of a field's values that must be addresses of objects for it to be a pointer."""


@dataclass(frozen=True)
class Place:
    """Where a field is: the type that has it, the bytes to it in the object and behind each
    pointer, and the kind of its values (`Leaf.scalar`)."""

    owner: str = ""
    path: tuple[int, ...] = ()
    scalar: str = ""


@dataclass(frozen=True)
class Feature:
    """A column: a number of each object, NaN where the trace shows none."""

    name: str
    group: str
    values: npt.NDArray[np.float64]
    known_share: float  # of the objects with a value: those for which it is known at birth
    accessed_share: float = 1.0  # objects with an access to the field
    place: Place = Place()  # of a field

    @property
    def at_birth(self) -> bool:
        return self.known_share >= MIN_KNOWN

    @property
    def coverage(self) -> float:
        """The share of objects with a value."""
        return float(np.mean(~np.isnan(self.values))) if len(self.values) else 0.0

    @property
    def usable(self) -> bool:
        """Whether a forest may see it: of neighbours only what is known at birth."""
        return self.varies and (self.group != SECONDARY or self.at_birth)

    @property
    def is_unseen(self) -> bool:
        """Whether the trace shows a value for less than MIN_SEEN of the objects with an access."""
        return self.group == PRIMARY and self.coverage < MIN_SEEN * self.accessed_share

    @property
    def varies(self) -> bool:
        present = self.values[~np.isnan(self.values)]
        return len(present) > 0 and bool((present != present[0]).any())


class ObjectIndex:
    """Which object begins at an address at a time, and what it is."""

    _TEXT = """
    SELECT object, born, address, bytes, site, elements <= 1 AS single, type_number
    FROM objects JOIN type_names USING (type) ORDER BY address, born
    """

    def __init__(self, tables: TraceTables) -> None:
        tables.run(
            "CREATE OR REPLACE TEMP TABLE type_names AS"
            " SELECT type, row_number() OVER (ORDER BY type) - 1 AS type_number"
            " FROM (SELECT DISTINCT type FROM objects)"
        )
        names = tables.rows("SELECT type FROM type_names ORDER BY type_number")
        self.types = [name for (name,) in names]
        columns = {key: np.asarray(value) for key, value in tables.columns(self._TEXT).items()}
        order = np.lexsort((columns["born"], columns["address"]))
        columns = {key: value[order] for key, value in columns.items()}
        self._columns = columns
        self._by_object = np.argsort(columns["object"])

    def find(
        self, addresses: npt.NDArray[np.int64], times: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Row of the last object that was born at each address before each time; -1: none."""
        own, born = self._columns["address"], self._columns["born"]
        low = np.searchsorted(own, addresses, side="left")
        high = np.searchsorted(own, addresses, side="right")
        # The births at one address ascend: halve the range until it is empty.
        first = low.copy()
        while (open_ := low < high).any():
            middle = (low + high) // 2
            before = born[np.minimum(middle, len(born) - 1)] < times
            low = np.where(open_ & before, middle + 1, low)
            high = np.where(open_ & ~before, middle, high)
        return np.where(low > first, low - 1, -1)

    def rows_of(self, objects: Objects) -> npt.NDArray[np.int64]:
        """The row of each object; every one must be known."""
        at = np.searchsorted(self._columns["object"], objects, sorter=self._by_object)
        return self._by_object[at]

    def singles(self, kind: str) -> Objects:
        """The numbers of the objects of a type that are not arrays, ascending."""
        columns = self._columns
        of_kind = columns["type_number"] == self.types.index(kind)
        return np.sort(columns["object"][of_kind & columns["single"].astype(bool)])

    @staticmethod
    def places(tables: TraceTables, kind: str) -> tuple[str, ...]:
        """Where the source allocates objects of a type, as FILE:LINE, the most frequent first."""
        found = tables.rows(
            "SELECT s.file, s.line FROM objects o JOIN sites s USING (site)"
            f" WHERE o.type = {quoted(kind)} AND o.elements <= 1"
            " GROUP BY s.file, s.line ORDER BY COUNT(*) DESC, s.file, s.line"
        )
        return tuple(f"{file}:{line}" for file, line in found)

    def column(self, name: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = self._columns[name][rows]
        return found


@dataclass(frozen=True)
class _Column:
    """A field of each object: its number, whether it is known at birth, the number of the event
    that wrote it then, and whether anything accessed it."""

    name: str
    numbers: npt.NDArray[np.float64]
    at_birth: npt.NDArray[np.bool_]
    written: npt.NDArray[np.int64]
    accessed: npt.NDArray[np.bool_]
    place: Place


@dataclass(frozen=True)
class FeatureReader:
    """Reads features of objects; `depth` is the number of pointers to follow."""

    tables: TraceTables
    fields: FieldTable
    index: ObjectIndex
    depth: int

    def read(self, kind: str, shape: Shape, objects: Objects) -> list[Feature]:
        """All features of objects of a type, which are not arrays."""
        rows = self.index.rows_of(objects)
        found = [
            self._feature(column)
            for column in self._columns(
                kind, shape, objects, self.index.column("born", rows), self.depth
            )
        ]
        return found + self._meta(objects, rows)

    @staticmethod
    def _feature(column: _Column) -> Feature:
        present = ~np.isnan(column.numbers)
        share = float(np.mean(column.at_birth[present])) if present.any() else 0.0
        group = SECONDARY if "->" in column.name else PRIMARY
        accessed = float(np.mean(column.accessed)) if len(present) else 0.0
        return Feature(column.name, group, column.numbers, share, accessed, column.place)

    def _columns(
        self, kind: str, shape: Shape, objects: Objects, born: npt.NDArray[np.int64], depth: int
    ) -> Iterator[_Column]:
        for field in field_values(self.tables, kind, shape, objects):
            neighbours = self._neighbours(field)
            if neighbours is None:
                if not field.leaf.is_pointer:
                    leaf, at_birth = field.leaf, field.at_birth
                    place = Place(kind, (leaf.offset,), leaf.scalar)
                    yield _Column(
                        leaf.name, field.numbers(), at_birth, field.written, field.accessed, place
                    )
            elif depth:
                yield from self._behind(field, neighbours, born, depth)

    def _neighbours(self, field: FieldValues) -> npt.NDArray[np.int64] | None:
        """The row of the object that each value points to, -1: none; None if no pointer."""
        if field.leaf.width != 8 or field.leaf.is_real:
            return None
        rows = np.where(field.present, self.index.find(field.bits, field.seen), -1)
        given = field.present & (field.bits != 0)
        points, values = int((rows >= 0).sum()), int(given.sum())
        return rows if values and points >= MIN_POINTS * values else None

    def _behind(
        self,
        field: FieldValues,
        rows: npt.NDArray[np.int64],
        born: npt.NDArray[np.int64],
        depth: int,
    ) -> Iterator[_Column]:
        """The fields of the neighbours of the most frequent type.

        They are known at an object's birth if they were written before it.
        """
        single = (rows >= 0) & self.index.column("single", rows).astype(bool)
        if not single.any():
            return
        numbers = self.index.column("type_number", rows)
        kind = int(np.bincount(numbers[single]).argmax())
        chosen = single & (numbers == kind)
        targets, row = np.unique(rows[chosen], return_inverse=True)
        name = self.index.types[kind]
        columns = self._columns(
            name,
            shape_of(self.tables, self.fields, name),
            self.index.column("object", targets),
            self.index.column("born", targets),
            depth - 1,
        )
        for inner in columns:
            values, at_birth = np.full(len(rows), np.nan), np.zeros(len(rows), bool)
            values[chosen] = inner.numbers[row]
            at_birth[chosen] = inner.at_birth[row] & (inner.written[row] < born[chosen])
            yield _Column(
                f"{field.leaf.name}->{inner.name}",
                values,
                at_birth & field.at_birth,
                field.written,
                field.accessed,
                replace(inner.place, path=(field.leaf.offset, *inner.place.path)),
            )

    def _meta(self, objects: Objects, rows: npt.NDArray[np.int64]) -> list[Feature]:
        numbers = {
            SIZE: self.index.column("bytes", rows),
            "context": self.index.column("site", rows),
            "address": self.index.column("address", rows),
            "sequence number": objects,
            "log2 of sequence number": np.floor(np.log2(np.maximum(objects, 1))),
        }
        return [
            Feature(name, META, column.astype(float), 0.0 if name == "address" else 1.0)
            for name, column in numbers.items()
        ]


def first_pointers(features: Sequence[Feature]) -> list[Feature]:
    """The features, in their order, but of those behind the pointers of an array only that behind
    the first one, in the place of the foremost."""
    found: dict[str, Feature] = {}
    for one in features:
        name = _INDEX.sub("[]", one.name)
        if name not in found or one.place.path < found[name].place.path:
            found[name] = one
    return list(found.values())


def noise(count: int, seed: int) -> Feature:
    """A column of random numbers, whose importance is that of none."""
    column = np.random.default_rng((seed, count, 0)).permutation(count)
    return Feature("noise", NOISE, column.astype(float), 0.0)
