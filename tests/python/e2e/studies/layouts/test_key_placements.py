"""Replays of objects that Tidy places by logged keys: with other buckets, and in fixed cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import HaloError
from halo.base.settings import read_settings
from halo.studies.layouts.document import ReplayedLayout
from halo.studies.layouts.replays import ReplayOptions, replay
from support.command import BUILD, halo

PROGRAM = [str(BUILD / "bench" / "mesh-tidy-keys"), "60", "60", "5000", "1"]


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An object trace of the program, and its log of hints."""
    folder = tmp_path_factory.mktemp("keyed")
    trace, keys = folder / "mesh.objects", folder / "keys"
    env = {"HALO_BENCH_KEYS": str(keys)}
    outcome = halo("study", "layout", "--quick", "-o", str(trace), "--", *PROGRAM, env=env)
    assert outcome.status in (0, 1), outcome.stderr
    return trace, keys


def replays(trace: Path, options: ReplayOptions, folder: Path) -> tuple[ReplayedLayout, ...]:
    return replay(read_settings(), trace, options, folder).replays


def test_one_placement_is_replayed_as_among_all(keyed: tuple[Path, Path], tmp_path: Path) -> None:
    trace, keys = keyed
    base = ReplayOptions(keys_by_address=keys)
    everything = replays(trace, base, tmp_path)
    assert [it.packing for it in everything] == ["recorded", "hints-ignored", "hinted"]
    for one in everything:
        assert replays(trace, replace(base, packing=one.packing), tmp_path) == (one,)


def test_buckets_and_cells_change_the_placement(keyed: tuple[Path, Path], tmp_path: Path) -> None:
    trace, keys = keyed
    base = ReplayOptions(keys_by_address=keys, packing="hinted")
    (default,) = replays(trace, base, tmp_path)
    assert replays(trace, replace(base, bucket=4096), tmp_path) == (default,)
    (large,) = replays(trace, replace(base, bucket=65536), tmp_path)
    (fixed,) = replays(trace, replace(base, fixed_cells=True), tmp_path)
    # Each hint has a bucket of its own, so nearly every object is on another page.
    assert fixed.misses["DTLB"] > default.misses["DTLB"] + 5000
    assert large.misses != default.misses


def test_packings_of_orders_are_refused_with_keys(keyed: tuple[Path, Path], tmp_path: Path) -> None:
    trace, keys = keyed
    with pytest.raises(HaloError, match="usage"):
        replays(trace, ReplayOptions(keys_by_address=keys, packing="reuse"), tmp_path)
