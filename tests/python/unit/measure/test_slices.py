"""How long slices are, and how many processes fit into the memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.measure.runs import slices as module
from halo.measure.runs.slices import SLICE, available_memory, even_parts, processes_that_fit, slices

MIB = 1 << 20


def test_longer_runs_have_longer_slices() -> None:
    assert slices([2.0, 1.0, 3.0]) == pytest.approx([SLICE, SLICE / 2, SLICE * 1.5])


@pytest.mark.parametrize(
    ("count", "most", "sizes"),
    [(0, 3, []), (3, 3, [3]), (4, 3, [2, 2]), (7, 3, [2, 2, 3]), (3, 1, [1, 1, 1])],
)
def test_parts_are_few_and_even(count: int, most: int, sizes: list[int]) -> None:
    parts = even_parts(range(count), most)
    assert [len(part) for part in parts] == sizes
    assert [item for part in parts for item in part] == list(range(count))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({}, 8000),
        ({"a/b": (3000, 1000), "a": (9000, 100)}, 2000),
        ({"a/b": (None, 1000), "a": (900, 300)}, 600),
        ({"a": (100, 300)}, 0),
    ],
)
def test_control_groups_around_the_process_limit_its_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    groups: Mapping[str, tuple[int | None, int]],
    expected: int,
) -> None:
    for name, (limit, used) in groups.items():
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        text = "max" if limit is None else str(limit * MIB)
        (tmp_path / name / "memory.max").write_text(f"{text}\n")
        (tmp_path / name / "memory.current").write_text(f"{used * MIB}\n")
    monkeypatch.setattr(module, "_meminfo", lambda: {"MemAvailable": 8000 * 1024})
    names = ("max", "current")
    found = [(tmp_path / "a/b", names), (tmp_path / "a", names)]
    monkeypatch.setattr(module, "_control_groups", lambda: found)
    assert available_memory() == expected * MIB
    assert processes_that_fit(100 * MIB) == max(1, int(expected / 300))


def test_this_machine_has_memory() -> None:
    assert 0 < available_memory() < 1 << 50
