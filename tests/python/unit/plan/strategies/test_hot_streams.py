"""Hot data streams: which sets become groups, and how streams of several parts add up."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, BadProfile
from halo.plan.strategies.factory import make_grouping
from halo.record.profile import (
    HOT_STREAMS,
    CoAllocationSet,
    HotStreams,
    Profile,
    merge_parts,
    profile_json,
    read_profile,
    write_profile,
)
from halo.studies.streams import strategy as hot_streams
from support.samples.plan import Sample


def found(*sets: tuple[tuple[int, ...], int]) -> HotStreams:
    """Streams with that number of saved lines."""
    return HotStreams(
        references=1000,
        dropped=0,
        symbols=100,
        threshold=40,
        covered=950,
        streams=len(sets),
        sets=tuple(CoAllocationSet(sites, 1, saved * 2, saved) for sites, saved in sets),
    )


def sample(*sets: tuple[tuple[int, ...], int]) -> Profile:
    """Four contexts at three sites; a site is named by the context that it is the innermost of."""
    made = Sample()
    for site, outer in ((16, 48), (16, 64), (20, 48), (24, 48)):
        made.add([site, (1, outer)], accesses=10)
    profile = made.profile()
    frames = [next(profile.stack(context)) for context in range(4)]
    named = tuple((tuple(frames[context] for context in sites), saved) for sites, saved in sets)
    return replace(profile, sections={HOT_STREAMS.key: found(*named)})


def groups_of(profile: Profile, **options: str) -> list[tuple[int, ...]]:
    return [group.contexts for group in make_grouping(profile, "hot-streams", options).groups]


def test_a_site_brings_all_contexts_that_end_at_it() -> None:
    assert groups_of(sample(((0, 2), 50))) == [(0, 1, 2)]


def test_sets_are_disjoint_and_those_that_save_most_for_their_size_come_first() -> None:
    profile = sample(((0, 2), 50), ((0,), 40), ((2, 3), 60))
    assert groups_of(profile) == [(2, 3), (0, 1)]
    assert groups_of(profile, max_groups="1") == [(2, 3)]


def test_a_profile_without_streams_is_refused_with_the_way_out() -> None:
    with pytest.raises(BadInput, match="record it with --hot-streams"):
        make_grouping(Sample().profile(), "hot-streams", {})


def test_where_no_set_saves_anything_there_is_no_group() -> None:
    assert groups_of(sample()) == []
    assert groups_of(sample(((0, 2), 0))) == []


def best_packing(sets: list[CoAllocationSet]) -> int:
    """The most that disjoint sets save, by trying all."""
    best = 0
    for count in range(len(sets) + 1):
        for chosen in combinations(sets, count):
            sites = [site for item in chosen for site in item.sites]
            if len(sites) == len(set(sites)):
                best = max(best, sum(item.saved for item in chosen))
    return best


@pytest.mark.parametrize("seed", range(60))
def test_packing_stays_within_its_bound(seed: int) -> None:
    rng = random.Random(seed)
    sets = [
        CoAllocationSet(tuple(sorted(rng.sample(range(8), rng.randint(1, 4)))), 1, 1, saved)
        for saved in rng.sample(range(1, 100), 9)
    ]
    chosen = hot_streams.pack(sets)
    sites = [site for item in chosen for site in item.sites]
    assert len(sites) == len(set(sites))
    assert sum(item.saved for item in chosen) * sqrt(8) >= best_packing(sets)
    left = [item for item in sets if set(sites).isdisjoint(item.sites)]
    assert not left, "nothing that fits is left out"


def test_streams_are_read_as_they_were_written(tmp_path: Path) -> None:
    profile = sample(((0, 2), 50), ((3,), 7))
    write_profile(profile, tmp_path / "a.profile")
    assert read_profile(tmp_path / "a.profile") == profile


def test_parts_add_up_by_site_whatever_their_order(tmp_path: Path) -> None:
    other = Sample()
    for site, outer in ((24, 48), (16, 48), (20, 64)):
        other.add([site, (1, outer)], accesses=10)
    profile = other.profile()
    frames = [next(profile.stack(context)) for context in range(3)]
    others = found(((frames[1], frames[2]), 5), ((frames[0],), 500))
    second = replace(profile, sections={HOT_STREAMS.key: others})
    paths = [tmp_path / "a", tmp_path / "b"]
    write_profile(sample(((0, 2), 50)), paths[0])
    write_profile(second, paths[1])
    merged = merge_parts(paths, "program")
    assert merged == merge_parts(paths[::-1], "program")
    streams = HOT_STREAMS.of(merged)
    assert streams is not None
    assert streams.references == 2000
    by_offset = {
        tuple(merged.frames[site].offset for site in item.sites): item.saved
        for item in streams.sets
    }
    assert by_offset == {(24,): 500, (16, 20): 55}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sets": 1}, "the sets of hot_streams are not a list"),
        ({"sets": [[0]]}, "no list of sites"),
        ({"sets": [{"sites": []}]}, "no list of sites"),
        ({"sets": [{"sites": [0, 0]}]}, "has a site twice"),
        ({"sets": [{"sites": [99]}]}, "a site of hot_streams is out of range"),
        ({"sets": [{"sites": [True]}]}, "a site of hot_streams is out of range"),
        ({"sets": [{"sites": [0], "streams": 1, "heat": 1}]}, "saved is missing"),
        ({"covered": -1}, "covered is missing or not a count"),
    ],
)
def test_damaged_streams_are_refused(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    document = profile_json(sample(((0, 2), 50)))
    document["hot_streams"].update(change)
    path = tmp_path / "a.profile"
    path.write_text(json.dumps(document))
    with pytest.raises(BadProfile, match=sentence):
        read_profile(path)
