"""Simulations of several processes are added up, and damaged ones are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadProfile
from halo.base.schema.simulation import ClassCounts, HotLines
from halo.record.profile import SIMULATION, merge_parts, profile_json, read_profile, write_profile
from support.samples.plan import Sample


def part(tmp_path: Path, name: str, **simulation: Any) -> Path:
    """A part of two contexts whose simulation is changed by the arguments."""
    sample = Sample()
    sample.add([1, 2])
    sample.add([3])
    profile = sample.profile()
    width = 3
    document: dict[str, Any] = json.loads(json.dumps(profile_json(profile)))
    document["simulation"] = {
        "machine": {
            "caches": [{"name": "L1D", "sets": 64, "ways": 8, "cycles": 0}],
            "tlbs": [
                {"name": "DTLB", "sets": 16, "ways": 4, "cycles": 0},
                {"name": "STLB", "sets": 128, "ways": 12, "cycles": 7},
            ],
            "huge_tlb": [8, 4],
            "line": 64,
            "page": 4096,
            "memory_cycles": 200,
            "walk_cycles": 30,
            "next_line": True,
            "streams": False,
        },
        "contexts": [[10, 20 + at, *range(width)] for at in range(len(profile.contexts))],
        "code": [[0, 0, 9, 1, 1, 1]],
        "objects": [[1, 0, 24, 5]],
        "outside": [100, 40, 4, 5, 6],
        "prefetched": [3],
        "cycles": 1000,
        "objects_missed": 4,
        "objects_for_half": 1,
        **simulation,
    }
    path = tmp_path / name
    path.write_text(json.dumps(document))
    return path


def test_parts_are_added_up(tmp_path: Path) -> None:
    one = part(tmp_path, "one")
    merged = merge_parts([one, part(tmp_path, "two")], "prog")
    whole, single = SIMULATION.of(merged), SIMULATION.of(read_profile(one))
    assert whole is not None and single is not None
    assert whole.total == single.total.plus(single.total)
    assert whole.cycles == 2000
    assert whole.prefetched == (6,)
    assert whole.code[0][1].cycles == 18
    assert len(whole.objects) == 2
    write_profile(merged, tmp_path / "merged")
    assert read_profile(tmp_path / "merged") == merged


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contexts": []}, "contexts are not those of the profile"),
        ({"code": [[10**6, 0, 9, 1, 1, 1]]}, "frame of the simulation is out of range"),
        ({"code": [[0, 0, 9, 1, 1]]}, "does not have 6 numbers"),
        ({"objects": [[1, 10**6, 24, 5]]}, "context of the simulation is out of range"),
        ({"outside": [100, 40, 4, 5, -6]}, r"simulation.outside\[4\] is negative"),
        ({"machine": 1}, "simulation.machine is not an object"),
        ({"cycles": "many"}, "simulation.cycles is not a whole number"),
    ],
)
def test_a_damaged_simulation_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path, "part", **change))


def classes(*contexts: list[int], outside: list[int]) -> dict[str, Any]:
    return {"contexts": contexts, "outside": outside}


# The sample's tallies have 0 misses in each context, and 4 outside.
FITTING = classes([0, 0, 0, 7], [0, 0, 0, 8], outside=[1, 1, 2, 9])


def test_classes_are_added_up_and_written(tmp_path: Path) -> None:
    paths = [part(tmp_path, name, classes=FITTING) for name in ("one", "two")]
    merged = merge_parts(paths, "prog")
    whole = SIMULATION.of(merged)
    assert whole is not None and whole.classes is not None
    assert whole.classes.outside == ClassCounts(2, 2, 4, 18)
    assert whole.classes.total == ClassCounts(2, 2, 4, 48)
    write_profile(merged, tmp_path / "merged")
    assert read_profile(tmp_path / "merged") == merged


def hot_lines(*by_slot: int) -> dict[str, Any]:
    return {"lines": sum(by_slot), "by_slot": by_slot}


def test_hot_lines_are_those_of_the_process_that_has_most(tmp_path: Path) -> None:
    paths = [
        part(tmp_path, "one", hot_lines=hot_lines(1, 2)),
        part(tmp_path, "two", hot_lines=hot_lines(4, 0)),
    ]
    merged = merge_parts(paths, "prog")
    whole = SIMULATION.of(merged)
    assert whole is not None and whole.hot_lines == HotLines(4, (4, 0))
    write_profile(merged, tmp_path / "merged")
    assert read_profile(tmp_path / "merged") == merged
    none = SIMULATION.of(merge_parts([*paths, part(tmp_path, "none")], "prog"))
    assert none is not None and none.hot_lines is None


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        ({"lines": 4, "by_slot": [4, 1]}, "hot lines by slot do not add up"),
        ({"lines": 3, "by_slot": [4, -1]}, "is negative"),
        ({"lines": 3}, "hot_lines.by_slot is missing"),
    ],
)
def test_damaged_hot_lines_are_refused(tmp_path: Path, damaged: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path, "part", hot_lines=damaged))


def test_parts_with_and_without_classes_have_none_together(tmp_path: Path) -> None:
    paths = [part(tmp_path, "one", classes=FITTING), part(tmp_path, "two")]
    whole = SIMULATION.of(merge_parts(paths, "prog"))
    assert whole is not None and whole.classes is None


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        (classes([0, 0, 0, 0], outside=[1, 1, 2, 9]), "not those of its contexts"),
        (classes([0, 0, 0, 7], [0, 0, 1, 8], outside=[1, 1, 2, 9]), "do not add up"),
        (classes([0, 0, 0], [0, 0, 0, 8], outside=[1, 1, 2, 9]), "classes.contexts"),
        (classes([0, 0, 0, 7], [0, 0, 0, 8], outside=[1, 1, 2, -9]), "is negative"),
    ],
)
def test_damaged_classes_are_refused(tmp_path: Path, damaged: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path, "part", classes=damaged))


def test_other_machines_are_not_added_up(tmp_path: Path) -> None:
    document = json.loads(part(tmp_path, "one").read_text())
    document["simulation"]["machine"]["line"] = 128
    (tmp_path / "two").write_text(json.dumps(document))
    with pytest.raises(BadProfile, match="different machines"):
        merge_parts([tmp_path / "one", tmp_path / "two"], "prog")
