"""The scalar fields of a type, as the accesses to its objects show them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from halo.studies.tracing.analyses.engines.duckdb import quoted
from halo.studies.tracing.analyses.trace_tables import TraceTables

WORD = 8
"""Bytes of a value that a trace holds."""
_PARTS = """
SELECT s.owner = o.type AS own, s.owner, s.field, s.type, s.bytes AS width, a.object_offset,
    a.bytes, s.kind, a.site, COUNT(*) AS accesses
FROM accesses a JOIN objects o USING (object) JOIN sites s ON s.site = a.site
WHERE o.type = {type} AND o.elements <= 1 GROUP BY ALL
ORDER BY own DESC, accesses DESC, a.site, a.object_offset, a.bytes
"""
_FIELDS = """
SELECT owner, field, type, "offset", bytes FROM fields
ORDER BY owner_id, "offset", bytes
"""
_RANGES = ("read-range", "write-range")
_QUALIFIERS = re.compile(r"\b(const|volatile)\b")
_UNSIGNED = re.compile(r"\b(unsigned|uint\w*_t|size_t|bool|_Bool|char(8|16|32)_t)\b")


@dataclass(frozen=True)
class Leaf:
    """A scalar field: its bytes from the beginning of the object, its name and its type."""

    offset: int
    width: int
    name: str
    type: str

    @property
    def is_real(self) -> bool:
        return _QUALIFIERS.sub("", self.type).strip() in ("float", "double")

    @property
    def scalar(self) -> str:
        """Its kind and bits: `i32`, `u8`, `f64` and so on; empty if it has other widths."""
        if self.width not in ((4, 8) if self.is_real else (1, 2, 4, 8)):
            return ""
        kind = "f" if self.is_real else "u" if self.is_unsigned else "i"
        return f"{kind}{8 * self.width}"

    @property
    def is_unsigned(self) -> bool:
        return _UNSIGNED.search(self.type) is not None

    @property
    def is_pointer(self) -> bool:
        return "*" in self.type or self.type.endswith(("::pointer", "iterator", "&"))


@dataclass(frozen=True)
class Part:
    """What one kind of access tells about a leaf; `shift` is in bits, of the accessed value.

    `known` is false if the trace lacks that part of the value: of copies, and behind the first
    WORD bytes of vectors.
    """

    site: int
    object_offset: int
    bytes: int
    leaf: int
    shift: int
    known: bool
    write: bool


@dataclass(frozen=True)
class Shape:
    """The leaves of a type by offset, and what accesses tell about them."""

    leaves: tuple[Leaf, ...]
    parts: tuple[Part, ...]


class FieldTable:
    """The table `fields` of a dataset: the scalar fields of structures, also nested ones."""

    def __init__(self, tables: TraceTables) -> None:
        self._owners: dict[str, dict[tuple[int, str], tuple[str, int]]] = defaultdict(dict)
        for owner, field, kind, offset, size in tables.rows(_FIELDS):
            self._owners[owner].setdefault((offset, field), (kind, size))

    def leaves(self, owner: str, start: int = 0, prefix: str = "", depth: int = 8) -> list[Leaf]:
        """The scalar fields of a structure; those of unions may overlap."""
        found = []
        for (offset, field), (kind, size) in self._owners.get(owner, {}).items():
            name = f"{prefix}{field}"
            if kind in self._owners and depth:
                inner = f"{name}." if field else prefix
                found += self.leaves(kind, start + offset, inner, depth - 1)
            elif field and 0 < size <= WORD:  # not an empty base class
                found.append(Leaf(start + offset, size, name, kind))
        return found


def shape_of(tables: TraceTables, fields: FieldTable, kind: str) -> Shape:
    """The scalar fields of a type's objects that are not arrays.

    They are those of its definition and those that are accessed by name. Of two that overlap the
    first is taken; those of the definition come first, then the most accessed ones.
    """
    rows = tables.rows(_PARTS.format(type=quoted(kind)))
    candidates = fields.leaves(kind)
    for _, owner, field, scalar, width, offset, size, how, _, _ in rows:
        if how not in _RANGES and field and size == width <= WORD:
            name = field if owner == kind else f"{owner}::{field}"
            candidates.append(Leaf(offset, width, name, scalar))
    leaves = _numbered(_without_overlaps(candidates))
    return Shape(leaves, tuple(_parts(rows, leaves)))


def _without_overlaps(candidates: list[Leaf]) -> list[Leaf]:
    taken: list[Leaf] = []
    used: set[int] = set()
    for leaf in candidates:
        places = range(leaf.offset, leaf.offset + leaf.width)
        if used.isdisjoint(places):
            used.update(places)
            taken.append(leaf)
    return sorted(taken, key=lambda leaf: leaf.offset)


def _numbered(leaves: list[Leaf]) -> tuple[Leaf, ...]:
    """The leaves, with an index where elements of an array have one name."""
    total = Counter(leaf.name for leaf in leaves)
    seen: Counter[str] = Counter()
    found = []
    for leaf in leaves:
        name = leaf.name
        if total[name] > 1:
            name = f"{name}[{seen[leaf.name]}]"
            seen[leaf.name] += 1
        found.append(Leaf(leaf.offset, leaf.width, name, leaf.type))
    return tuple(found)


def _parts(rows: list[tuple[object, ...]], leaves: tuple[Leaf, ...]) -> list[Part]:
    found = []
    for row in rows:
        offset, size, how, site = row[5], row[6], row[7], row[8]
        assert isinstance(offset, int) and isinstance(size, int) and isinstance(site, int)
        for number, leaf in enumerate(leaves):
            if leaf.offset < offset or leaf.offset + leaf.width > offset + size:
                continue
            shift = leaf.offset - offset
            known = how not in _RANGES and shift + leaf.width <= WORD
            write = how in ("store", "update", "write-range")
            # The value of an update is the one before it.
            known = known and how != "update"
            found.append(Part(site, offset, size, number, 8 * shift if known else 0, known, write))
    return found
