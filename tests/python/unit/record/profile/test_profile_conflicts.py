"""The section of conflicts: merged, written, and refused if it contradicts itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadProfile
from halo.record.profile import CONFLICTS, merge_parts, profile_json, read_profile, write_profile
from halo.record.profile.sections.conflicts import RecordedState
from support.samples.conflicts import conflicts_document, machine, state
from support.samples.plan import Sample


def part(tmp_path: Path, name: str, **changes: Any) -> Path:
    """A part of three contexts whose conflicts are changed by the arguments."""
    sample = Sample()
    for site in (1, 2, 3):
        sample.add([site])
    document: dict[str, Any] = json.loads(json.dumps(profile_json(sample.profile())))
    document["conflicts"] = {**conflicts_document(), **changes}
    path = tmp_path / name
    path.write_text(json.dumps(document))
    return path


def test_parts_are_added_up(tmp_path: Path) -> None:
    paths = [part(tmp_path, "one"), part(tmp_path, "two")]
    merged = merge_parts(paths, "prog")
    whole, single = CONFLICTS.of(merged), CONFLICTS.of(read_profile(paths[0]))
    assert whole is not None and single is not None
    assert [(it.context, it.size) for it in whole.states] == [(None, 0), (0, 64), (1, 128)]
    assert [it.conflict for it in whole.states] == [2 * it.conflict for it in single.states]
    assert [it.peak for it in whole.states] == [it.peak for it in single.states]
    assert whole.states[1].by_line == (60, 20)
    assert whole.states[1].by_slot == (80,)
    assert [pair[2:] for pair in whole.pairs] == [
        tuple(2 * it for it in pair[2:]) for pair in single.pairs
    ]
    assert whole.interference == single.interference == {(1, 2): 2.0, (2, 1): 0.5}
    write_profile(merged, tmp_path / "merged")
    assert read_profile(tmp_path / "merged") == merged


def test_what_follows_from_the_counts() -> None:
    one = RecordedState(**state(0, 64, by_line=[1, 50, 2, 47], reuses=30, far=10))
    assert (one.hot_line, one.hot_lines, one.far_share) == (1, 2, 0.25)
    assert RecordedState(**state(0, 64, by_line=[])).hot_lines == 0


def test_the_machine_gives_the_bytes_of_a_way(tmp_path: Path) -> None:
    found = CONFLICTS.of(read_profile(part(tmp_path, "one")))
    assert found is not None
    assert (found.way_bytes, found.cache_bytes) == (4096, 8192)


OUTSIDE = state(None, 0, conflict=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"states": []}, "the first state of conflicts is not that of memory outside"),
        ({"states": [state(0, 64)]}, "the first state of conflicts"),
        ({"states": [OUTSIDE, state(7, 64)], "pairs": []}, "missing or out of range"),
        ({"states": [OUTSIDE, state(None, 64)], "pairs": []}, "missing or out of range"),
        ({"states": [OUTSIDE, state(0, 64), state(0, 64)], "pairs": []}, "a state twice"),
        ({"pairs": [[1, 9, 2, 2, 0]]}, "names a state that is missing"),
        ({"pairs": [[1, 2, 2, 2, 0], [1, 2, 0, 0, 0]]}, "have a pair twice"),
        ({"pairs": [[0, 1, 2, 2, 5]]}, "of a state without reuses"),
        ({"pairs": [[1, 2, 1, 1, 1]]}, "do not add up"),
        ({"pairs": [[1, 2, -1, 1, 1]]}, r"conflicts.pairs\[0\]\[2\] is negative"),
        ({"outside_slots": [0] * 65}, "more than 64 slots"),
        ({"machine": None}, "conflicts.machine"),
        ({"machine": machine(sets=0)}, "no sets, no ways or no bytes in a line"),
        ({"machine": machine(ways=0)}, "no sets, no ways or no bytes in a line"),
        ({"machine": machine(line=0)}, "no sets, no ways or no bytes in a line"),
        ({"sampling": 0}, "sampling of 0"),
        ({"states": [OUTSIDE, state(0, 13)], "pairs": []}, "not a multiple of 8"),
        ({"states": [OUTSIDE, state(0, 64, [1] * 17)], "pairs": []}, "more than 16 lines"),
        ({"pairs": [[1, 2, 18, 17, 1]]}, "more conflicts than collisions"),
    ],
)
def test_damaged_conflicts_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path, "part", **changes))


def test_pairs_need_not_add_up_if_some_were_left_out(tmp_path: Path) -> None:
    assert read_profile(part(tmp_path, "part", pairs=[[1, 2, 1, 1, 1]], pairs_left_out=3))


def test_conflicts_of_different_machines_are_not_added_up(tmp_path: Path) -> None:
    document = json.loads(part(tmp_path, "one").read_text())
    document["conflicts"]["machine"]["caches"][0]["ways"] = 1
    document["conflicts"]["pairs"] = [[1, 2, 3, 3, 20], [2, 1, 5, 6, 5]]
    document["conflicts"]["states"][0]["conflict"] = 0
    (tmp_path / "two").write_text(json.dumps(document))
    with pytest.raises(BadProfile, match="different machines"):
        merge_parts([tmp_path / "one", tmp_path / "two"], "prog")
