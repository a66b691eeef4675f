"""The fields of classes in a trace, and the leaves that splitting decides about.

A leaf belongs to one part of a split class: a field of a simple type, a pointer, an array, a
union, or bit-fields that share a byte. The fields of nested structures and of base classes are
leaves of the class that holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

UNION = "union"
NAMELESS = "(nameless)"
"""The name of a leaf that is a nameless member."""
VIRTUAL = "_vptr"
"""The name in debug information of the pointer to virtual functions, which cannot be moved."""
DEEPEST = 16
"""The maximum nesting of structures; a structure below it is one leaf."""
QUALIFIERS = re.compile(r"^(?:(?:const|volatile|struct|class|union)\s+)+")


@dataclass(frozen=True)
class DeclaredField:
    """A row of the table `fields`; the name of a base class or a nameless member is empty."""

    name: str
    type: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class DeclaredClass:
    """A class, structure or union with its fields, ascending by offset."""

    name: str
    kind: str
    bytes: int
    file: str
    line: int
    fields: tuple[DeclaredField, ...]


@dataclass(frozen=True)
class Leaf:
    """A part of a class that is not divided further.

    `name` is as in the table `sites`, `a.b` if nested; `top` is the index of the class's field that
    contains the leaf; `parts` are the names and types of fields that share its bytes.
    """

    name: str
    type: str
    offset: int
    bytes: int
    top: int
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def end(self) -> int:
        return self.offset + self.bytes

    @property
    def nameless(self) -> bool:
        return self.name.rpartition(".")[2] == NAMELESS

    def inside(self, name: str) -> bool:
        """Whether the leaf is within the field of that name, and is not that field itself."""
        names = [part for part, _ in self.parts] or [self.name]
        return all(part.startswith(f"{name}.") for part in names)

    @property
    def virtual(self) -> bool:
        return self.name.rpartition(".")[2].startswith(VIRTUAL)


def leaves_of(declared: DeclaredClass, known: Mapping[str, DeclaredClass]) -> list[Leaf]:
    """The leaves of a class by offset; one for a union. `known` are all classes by name."""
    if declared.kind == UNION:
        parts = tuple((field.name, field.type) for field in declared.fields)
        name = " | ".join(name for name, _ in parts if name)
        return [Leaf(name, "", 0, declared.bytes, 0, parts)] if parts else []
    found: list[Leaf] = []
    for top, field in enumerate(declared.fields):
        found += _flatten(field, "", 0, top, known, DEEPEST)
    return _join(found)


def gaps(leaves: Sequence[Leaf], size: int) -> list[tuple[int, int]]:
    """The padding: offset and bytes of each hole between leaves and behind the last."""
    found, at = [], 0
    for leaf in leaves:
        if leaf.offset > at:
            found.append((at, leaf.offset - at))
        at = max(at, leaf.end)
    return [*found, (at, size - at)] if size > at else found


def bare(name: str) -> str:
    """A type's name without leading qualifiers and keywords."""
    return QUALIFIERS.sub("", name.strip())


def is_spelt(type_: str) -> bool:
    """Whether a type can be spelt in C; a nameless one has only the place of its declaration."""
    return bool(type_) and "(unnamed " not in type_ and "(anonymous" not in type_


def same_once(classes: Iterable[DeclaredClass]) -> dict[str, DeclaredClass]:
    """Classes by name, for nested fields; the first if several have one name."""
    found: dict[str, DeclaredClass] = {}
    for declared in classes:
        if declared.name:
            found.setdefault(bare(declared.name), declared)
    return found


def _flatten(
    field: DeclaredField,
    prefix: str,
    base: int,
    top: int,
    known: Mapping[str, DeclaredClass],
    deepest: int,
) -> list[Leaf]:
    nested = known.get(bare(field.type))
    name = f"{prefix}{field.name or NAMELESS}"
    # A base class may be smaller within a class than alone, as its padding is reused.
    fits = nested is not None and (nested.bytes == field.bytes or not field.name)
    if nested is None or not fits or nested.kind == UNION or not nested.fields or not deepest:
        return [Leaf(name, field.type, base + field.offset, field.bytes, top)]
    inner = f"{name}." if field.name else prefix
    return [
        leaf
        for below in nested.fields
        for leaf in _flatten(below, inner, base + field.offset, top, known, deepest - 1)
    ]


def _join(leaves: Sequence[Leaf]) -> list[Leaf]:
    """Merges leaves that share a byte; drops empty base classes, which are never read."""
    ordered = sorted(leaves, key=lambda leaf: (leaf.offset, leaf.end))
    named = [leaf for leaf in ordered if not leaf.nameless or leaf.bytes > 1]
    found: list[Leaf] = []
    for leaf in named:
        if found and leaf.offset < found[-1].end and leaf.bytes:
            found[-1] = _together(found[-1], leaf)
        else:
            found.append(leaf)
    return found


def _together(one: Leaf, other: Leaf) -> Leaf:
    parts = [*(one.parts or ((one.name, one.type),)), (other.name, other.type)]
    types = dict.fromkeys(type_ for _, type_ in parts)
    return Leaf(
        name=", ".join(dict.fromkeys(name for name, _ in parts)),
        type=", ".join(types),
        offset=one.offset,
        bytes=max(one.end, other.end) - one.offset,
        top=one.top,
        parts=tuple(parts),
    )
