"""Classes and traces for the tests of structure splitting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from halo.studies.tracing.analyses.split.counts import PlaceUse, count_uses
from halo.studies.tracing.analyses.split.split import ArrayUse, ClassSplit, split_classes
from halo.studies.tracing.analyses.split.types import (
    DeclaredClass,
    DeclaredField,
    leaves_of,
    same_once,
)
from support.samples.trace import SampleTrace

# Name, type, offset and bytes: the arc of mcf, whose loop over all reads one field.
ARC = (
    ("ident", "int", 0, 4),
    ("tail", "node *", 8, 8),
    ("head", "node *", 16, 8),
    ("cost", "long", 24, 8),
    ("flow", "long", 32, 8),
    ("org_cost", "long", 40, 8),
    ("place", "point", 48, 8),
    ("compare", "int (*)(const arc *)", 56, 8),
    ("name", "char[5]", 64, 5),
)
POINT = (("x", "int", 0, 4), ("y", "int", 4, 4))
NODE = (
    ("potential", "long", 0, 8),
    ("orientation", "int", 8, 4),
    ("child", "node *", 16, 8),
    ("pred", "node *", 24, 8),
    ("number", "int", 32, 4),
)
ARC_USES = {"ident": 4000, "cost": 12, "flow": 6}
NODE_USES = {"potential": 350, "orientation": 300, "child": 330, "pred": 310, "number": 320}


def declared(
    name: str,
    size: int,
    *fields: tuple[str, str, int, int],
    kind: str = "struct",
    file: str = "sample.h",
    line: int = 1,
) -> DeclaredClass:
    """A class of fields (name, type, offset, bytes)."""
    return DeclaredClass(
        name, kind, size, file, line, tuple(DeclaredField(*field) for field in fields)
    )


def chosen(whole: DeclaredClass, hot: str, *others: DeclaredClass) -> ClassSplit:
    """A class of which one field is accessed, so that it is split."""
    leaves = leaves_of(whole, same_once([whole, *others]))
    place = next(leaf for leaf in leaves if leaf.name == hot)
    classes = dict(enumerate([whole, *others]))
    uses = count_uses(classes, [PlaceUse(0, place.offset, place.bytes, 1000)])
    return split_classes("p", uses, {}).classes[0]


def declare_in(
    trace: SampleTrace, name: str, size: int, fields: Sequence[tuple[str, str, int, int]]
) -> int:
    """The same in a trace; its owner id."""
    owner = trace.structure(name, size, *((field[0], field[2], field[3]) for field in fields))
    types = {field[0]: field[1] for field in fields}
    for row in trace.rows["fields"]:
        if row["owner_id"] == owner:
            row["type"] = types[row["field"]]
    return owner


def allocate(trace: SampleTrace, type_: str, elements: int, size: int) -> None:
    """An allocation of that number of elements."""
    site = trace.site("allocation", "", 90, type=type_, bytes=0)
    trace.rows["allocations"].append(
        {
            "seq": len(trace.rows["allocations"]) + 1,
            "thread": 0,
            "object": len(trace.rows["allocations"]) + 1,
            "address": 0x10000,
            "bytes": elements * size,
            "site": site,
            "elements": elements,
            "element_bytes": size,
        }
    )


def use(trace: SampleTrace, owner: str, uses: Mapping[str, int]) -> None:
    """The given number of loads of each field."""
    for name, accesses in uses.items():
        size = next(
            row["bytes"]
            for row in trace.rows["fields"]
            if (row["owner"], row["field"]) == (owner, name)
        )
        site = trace.site("load", f"{owner}.{name}", 10, bytes=size)
        for at in range(accesses):
            trace.access(site, 0x10000 + 72 * at, bytes=size)


def arcs_and_nodes() -> SampleTrace:
    """An array of arcs of which one field is hot, and nodes of which all fields are."""
    trace = SampleTrace()
    declare_in(trace, "point", 8, POINT)
    declare_in(trace, "arc", 72, ARC)
    declare_in(trace, "node", 40, NODE)
    allocate(trace, "arc", 1000, 72)
    allocate(trace, "node", 1, 40)
    allocate(trace, "node", 500, 40)
    use(trace, "arc", ARC_USES)
    use(trace, "node", NODE_USES)
    return trace


def written(trace: SampleTrace, tmp_path: Path) -> Path:
    return trace.write(tmp_path / "columns")


def document(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    assert isinstance(found, dict)
    return found


def arc(**more: ArrayUse) -> ClassSplit:
    """The class `arc` of the thesis, with one hot field of ten."""
    classes = {
        0: declared("arc", 72, *ARC),
        1: declared("point", 8, *POINT),
        2: declared("node", 40, *NODE),
    }
    places = [PlaceUse(0, 0, 4, 4000), PlaceUse(0, 24, 8, 12), PlaceUse(0, 48, 4, 6)]
    found = split_classes("mcf", count_uses(classes, places), more)
    assert [it.label for it in found.classes] == ["arc"]
    return found.classes[0]
