"""The values of a key field in layout order, by which an input file is reordered."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halo.base.errors import BadInput, UsageError
from halo.studies.hints.kinds import singles, survey
from halo.studies.hints.leaves import FieldTable, Leaf, Shape, shape_of
from halo.studies.hints.values import FieldValues, decoded, field_values
from halo.studies.layouts.layout_file import Layout
from halo.studies.tracing.analyses.folder import TraceFolder
from halo.studies.tracing.analyses.names import first_names
from halo.studies.tracing.analyses.trace_tables import TraceTables


@dataclass(frozen=True)
class Key:
    """A field, nested ones as `a.b`, of the objects of a type."""

    type: str
    field: str

    def __str__(self) -> str:
        return f"{self.type}.{self.field}"


def parse_key(text: str) -> Key:
    """TYPE.field; `UsageError` if it has no type or no field."""
    kind, _, name = text.partition(".")
    if not kind or not name:
        raise UsageError(f"--key is TYPE.field, as in graph::Node.id; {text} is not.")
    return Key(kind, name)


def key_order(dataset: TraceFolder, layout: Layout, key: Key, scratch: Path) -> str:
    """The last value of the key in each object of its type, a line each, in the layout's order.

    Objects are those that are accessed and are not arrays. Reals have as many digits as identify
    them. `BadInput` if the type or the field does not exist, if the trace lacks a value, or if two
    objects have the same. `scratch` is a folder for temporary files. Miucin, section 3.5.2.
    """
    tables = TraceTables(dataset, scratch, len(os.sched_getaffinity(0)))
    with closing(tables):
        _check_type([one.type for one in survey(tables)], key)
        objects = layout.objects[singles(tables, layout, key.type)].astype(np.int64)
        if not len(objects):
            raise BadInput(
                f"All accessed heap objects of the type {key.type} are arrays, which are not"
                " in an order."
            )
        shape = shape_of(tables, FieldTable(tables), key.type)
        leaf = _leaf(shape, key)
        values = field_values(tables, key.type, shape, objects)[leaf]
    return "".join(f"{value}\n" for value in _unique(values, key))


def _check_type(types: list[str], key: Key) -> None:
    if key.type not in types:
        raise BadInput(
            f"No accessed heap object has the type {key.type}; the trace has: {first_names(types)}."
        )


def _leaf(shape: Shape, key: Key) -> int:
    """The field's place in the shape."""
    names = [leaf.name for leaf in shape.leaves]
    if key.field not in names:
        raise BadInput(f"{key.type} has no field {key.field}; it has: {first_names(names)}.")
    leaf: Leaf = shape.leaves[names.index(key.field)]
    if leaf.is_pointer:
        raise BadInput(f"{key} is a pointer, whose values are not those of an input file.")
    return names.index(key.field)


def _unique(values: FieldValues, key: Key) -> list[str]:
    """The values as text, after the check that each object has one of its own."""
    missing = int((~values.present).sum())
    if missing:
        raise BadInput(
            f"The trace has no value of {key} for {missing:,} of {len(values.present):,} objects,"
            " so they have no place in the order."
        )
    texts = [str(value) for value in decoded(values.bits, values.leaf)]
    found, counts = np.unique(texts, return_counts=True)
    if len(found) < len(texts):
        most = int(counts.argmax())
        raise BadInput(
            f"{key} is not unique: {counts[most]:,} objects have the value {found[most]}."
        )
    return texts
