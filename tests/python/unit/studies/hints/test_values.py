"""Values of fields, and which are known at birth, against loops over the same events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halo.studies.hints.features import FeatureReader, ObjectIndex
from halo.studies.hints.kinds import survey
from halo.studies.hints.leaves import FieldTable, Leaf, shape_of
from halo.studies.hints.values import FieldValues, field_values
from halo.studies.tracing.analyses.folder import TraceFolder
from halo.studies.tracing.analyses.schema import TABLES
from halo.studies.tracing.analyses.trace_tables import TraceTables

ALLOCATION = 1
# By site: kind, field, its offset in the object, and the accessed bytes.
SITES = {
    2: ("load", "first", 0, 4),
    3: ("store", "first", 0, 4),
    4: ("load", "second", 4, 4),
    5: ("store", "second", 4, 4),
    6: ("store", "first", 0, 8),  # both fields at once
    7: ("write-range", "first", 0, 8),
    8: ("update", "second", 4, 4),
}
EMPTY = {"int64": 0, "int32": 0, "int8": 0, "bool": False, "string": ""}
OBJECTS = 40
LEAVES = (Leaf(0, 4, "first", "int"), Leaf(4, 4, "second", "unsigned int"))


@dataclass(frozen=True)
class Event:
    seq: int
    object: int
    site: int
    value: int

    def shows(self, leaf: Leaf) -> int | None:
        """The value of the field, if the trace has it."""
        kind, _, offset, _ = SITES[self.site]
        if kind in ("write-range", "update") or not self.covers(leaf):
            return None
        return self.value >> 8 * (leaf.offset - offset) & 0xFFFFFFFF

    def covers(self, leaf: Leaf) -> bool:
        _, _, offset, size = SITES[self.site]
        return offset <= leaf.offset and leaf.offset + leaf.width <= offset + size

    @property
    def writes(self) -> bool:
        return SITES[self.site][0] in ("store", "update", "write-range")

    @property
    def reads(self) -> bool:
        return SITES[self.site][0] in ("load", "update")


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    schema = TABLES[name]
    plain = {column.name: EMPTY[str(column.type)] for column in schema}
    return pa.Table.from_pylist([plain | row for row in rows], schema)


def random_events(random: np.random.Generator) -> tuple[dict[int, int], list[Event]]:
    """When each object is born, and the accesses to them."""
    born: dict[int, int] = {}
    events = []
    for seq in range(1, 1200):
        if len(born) < OBJECTS and random.random() < 0.05:
            born[len(born) + 1] = seq
        elif born:
            # Mostly the newest object, and few values, so that some fields are known at birth.
            newest = len(born) if random.random() < 0.7 else int(random.integers(1, len(born) + 1))
            site = int(random.choice(list(SITES), p=[0.2, 0.2, 0.2, 0.2, 0.18, 0.01, 0.01]))
            value = int(random.random() < 0.03) * (0x1_0000_0001 if SITES[site][3] == 8 else 1)
            events.append(Event(seq, newest, site, value))
    return born, events


@pytest.fixture(params=range(4))
def made(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[TraceTables, dict[int, int], list[Event]]]:
    born, events = random_events(np.random.default_rng(request.param))
    sites = [{"site": ALLOCATION, "kind": "allocation", "type": "node", "owner_id": -1}]
    for site, (kind, field, offset, _) in SITES.items():
        place = {"owner": "node", "field": field, "field_offset": offset, "bytes": 4}
        sites.append({"site": site, "kind": kind, "type": "int", **place})
    owner = {"owner": "node", "owner_kind": "struct", "owner_bytes": 8, "bytes": 4}
    content: dict[str, list[dict[str, Any]]] = {
        "sites": sites,
        "fields": [
            {**owner, "field": leaf.name, "type": leaf.type, "offset": leaf.offset}
            for leaf in LEAVES
        ],
        "allocations": [
            {"seq": seq, "object": at, "address": 64 * at, "bytes": 8, "site": ALLOCATION}
            | {"elements": 1, "element_bytes": 8}
            for at, seq in born.items()
        ],
        "accesses": [
            {"seq": one.seq, "object": one.object, "site": one.site, "value": one.value}
            | {"object_offset": SITES[one.site][2], "bytes": SITES[one.site][3]}
            for one in events
        ],
    }
    for name, given in content.items():
        (tmp_path / name).mkdir()
        pq.write_table(table(name, given), tmp_path / name / "part-00001.parquet")
    tables = TraceTables(TraceFolder(tmp_path), tmp_path, 1)
    yield tables, born, events
    tables.close()


def reference(born: dict[int, int], events: list[Event], number: int, leaf: Leaf) -> list[Any]:
    """The last value of a field, the event that shows it, and whether it is known at birth."""
    mine = [one for one in events if one.object == number]
    reads = [one.seq for one in mine if one.reads]
    deadline = min([*reads, *(seq for seq in born.values() if seq > born[number])], default=10**9)
    covering = [one for one in mine if one.covers(leaf)]
    shown = [one for one in covering if one.shows(leaf) is not None]
    early = [one for one in covering if one.writes and one.seq < deadline]
    late = [one for one in covering if one.seq >= deadline]
    values = {one.shows(leaf) for one in late if one in shown}
    values |= {one.shows(leaf) for one in [one for one in early if one in shown][-1:]}
    hidden = any(one.writes and one not in shown for one in late)
    known = bool(early) and len(values) <= 1 and not hidden
    last = shown[-1] if shown else None
    written = max((one.seq for one in early), default=0)
    return [
        last.shows(leaf) if last else 0,
        last.seq if last else 0,
        known,
        written,
        bool(covering),
    ]


def test_values_equal_those_of_a_loop(
    made: tuple[TraceTables, dict[int, int], list[Event]],
) -> None:
    tables, born, events = made
    (kind,) = survey(tables)
    assert (kind.type, kind.single, kind.accesses) == ("node", len(born), len(events))
    shape = shape_of(tables, FieldTable(tables), "node")
    assert shape.leaves == LEAVES
    objects = np.array(sorted(born), np.int64)[::-1]
    found = field_values(tables, "node", shape, objects)
    known = 0
    for field in found:
        for place, number in enumerate(objects.tolist()):
            expected = reference(born, events, number, field.leaf)
            assert _at(field, place) == expected, (number, field.leaf)
            known += expected[2]
    assert 0 < known < len(objects) * len(LEAVES)


def _at(field: FieldValues, place: int) -> list[Any]:
    columns = (field.bits, field.seen, field.at_birth, field.written, field.accessed)
    row = [column[place].item() for column in columns]
    return row if field.present[place] else [0, 0, *row[2:]]


@pytest.mark.parametrize(
    ("name", "real", "unsigned"),
    [
        ("double", True, False),
        ("volatile double", True, False),
        ("const volatile float", True, False),
        ("long double", False, False),
        ("ssize_t", False, False),
        ("std::size_t", False, True),
        ("uint32_t", False, True),
        ("uint_fast8_t", False, True),
        ("unsigned char", False, True),
        ("boolean_state", False, False),
        ("_Bool", False, True),
    ],
)
def test_the_type_tells_how_to_read_a_value(name: str, real: bool, unsigned: bool) -> None:
    leaf = Leaf(0, 8, "x", name)
    assert (leaf.is_real, leaf.is_unsigned) == (real, unsigned)


def test_objects_are_found_by_address_and_time(
    made: tuple[TraceTables, dict[int, int], list[Event]],
) -> None:
    tables, born, _ = made
    survey(tables)
    index = ObjectIndex(tables)
    times = np.arange(0, 1200, 7)
    for number, seq in born.items():
        rows = index.find(np.full(len(times), 64 * number), times)
        assert ((rows >= 0) == (times > seq)).all()
        assert (index.column("object", rows[rows >= 0]) == number).all()
    assert (index.find(np.full(len(times), 63), times) == -1).all()


PAIRS = 20


def pairs(folder: Path, key_first: bool) -> TraceTables:
    """Items that point to others, whose key is written before the item is allocated, or behind."""
    item, other, key, pointer = range(1, 5)
    nowhere = {"owner_id": -1}
    sites = [
        {"site": item, "kind": "allocation", "type": "item", **nowhere},
        {"site": other, "kind": "allocation", "type": "other", **nowhere},
        {"site": key, "kind": "store", "type": "int", "owner": "other", "field": "key", "bytes": 4},
        {"site": pointer, "kind": "store", "type": "other *", "owner": "item", "field": "o"}
        | {"bytes": 8},
    ]
    allocations, accesses = [], []
    for at in range(PAIRS):
        first, thing, holder = 10 * at + 1, 2 * at + 1, 2 * at + 2
        plain = {"elements": 1, "thread": 0}
        allocations += [
            {"seq": first, "object": thing, "address": 64 * thing, "bytes": 4, "site": other},
            {"seq": first + 4, "object": holder, "address": 64 * holder, "bytes": 8, "site": item},
        ]
        accesses += [
            {"seq": first + (2 if key_first else 6), "object": thing, "site": key, "value": at}
            | {"bytes": 4},
            {"seq": first + 5, "object": holder, "site": pointer, "value": 64 * thing, "bytes": 8},
        ]
        for one in allocations[-2:]:
            one |= plain
    content: dict[str, list[dict[str, Any]]] = {
        "sites": sites,
        "fields": [],
        "allocations": allocations,
        "accesses": accesses,
    }
    for name, rows in content.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(table(name, rows), folder / name / "part-00001.parquet")
    return TraceTables(TraceFolder(folder), folder, 1)


@pytest.mark.parametrize("key_first", [True, False])
def test_a_neighbours_field_is_known_if_it_was_written_before_the_object(
    key_first: bool, tmp_path: Path
) -> None:
    with closing(pairs(tmp_path, key_first)) as tables:
        survey(tables)
        fields = FieldTable(tables)
        reader = FeatureReader(tables, fields, ObjectIndex(tables), 1)
        items = np.arange(2, 2 * PAIRS + 1, 2)
        found = {
            one.name: one for one in reader.read("item", shape_of(tables, fields, "item"), items)
        }
    assert found["o->key"].values.tolist() == list(range(PAIRS))
    assert found["o->key"].known_share == (1.0 if key_first else 0.0)
