"""The section of a cache sweep: merged, written, and refused if it contradicts itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadProfile
from halo.record.profile import CACHE_SWEEP, merge_parts, profile_json, read_profile, write_profile
from support.samples.plan import Sample

SWEEP = {
    "line": 64,
    "heap": 10,
    "outside": 90,
    "caches": [[8192, 1, 5, 40], [8192, 2, 4, 30]],
}


def part(tmp_path: Path, name: str, **changes: Any) -> Path:
    """A part whose sweep is changed by the arguments."""
    sample = Sample()
    sample.add([1])
    document: dict[str, Any] = json.loads(json.dumps(profile_json(sample.profile())))
    path = tmp_path / name
    path.write_text(json.dumps({**document, "cache_sweep": {**SWEEP, **changes}}))
    return path


def test_parts_are_added_up(tmp_path: Path) -> None:
    merged = merge_parts([part(tmp_path, "one"), part(tmp_path, "two")], "prog")
    found = CACHE_SWEEP.of(merged)
    assert found is not None
    assert (found.line, found.heap, found.outside) == (64, 20, 180)
    assert [(it.bytes, it.ways, it.heap, it.outside) for it in found.caches] == [
        (8192, 1, 10, 80),
        (8192, 2, 8, 60),
    ]
    write_profile(merged, tmp_path / "merged")
    assert read_profile(tmp_path / "merged") == merged


def test_parts_of_different_caches_are_refused(tmp_path: Path) -> None:
    other = part(tmp_path, "two", caches=[[8192, 1, 5, 40], [16384, 2, 4, 30]])
    with pytest.raises(BadProfile, match="simulated with different caches"):
        merge_parts([part(tmp_path, "one"), other], "prog")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"caches": [[8192, 1, 11, 40]]}, "has more misses than accesses"),
        ({"caches": [[8192, 1, 5, 91]]}, "has more misses than accesses"),
        ({"caches": [[8192, 1, -5, 0]]}, "cache_sweep"),
        ({"caches": [[8192, 1, 5]]}, "cache_sweep"),
        ({"heap": None}, "cache_sweep"),
    ],
)
def test_a_damaged_section_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadProfile, match=words):
        read_profile(part(tmp_path, "bad", **changes))


def test_final_live_bytes_are_those_of_the_process_that_has_most(tmp_path: Path) -> None:
    paths = [part(tmp_path, name) for name in ("old", "one", "two")]
    for path, final in zip(paths[1:], (40, 30), strict=True):
        document = json.loads(path.read_text())
        document["totals"]["final_live_bytes"] = final
        path.write_text(json.dumps(document))
    del (old := json.loads(paths[0].read_text()))["totals"]["final_live_bytes"]
    paths[0].write_text(json.dumps(old))
    assert read_profile(paths[0]).totals.final_live_bytes == 0
    assert merge_parts(paths, "prog").totals.final_live_bytes == 40
