"""The arithmetic of bench/studies/tidy_sweep.py: settings, keys of a grid, and the threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.studies import tidy_sweep
from bench.studies.tidy_sweep import Setting, merge_keys
from support.samples.sweeps import sweep_result


def test_cells_are_divided_among_the_dimensions() -> None:
    assert Setting(cells=1024).variables("mesh")["HALO_BENCH_BINS"] == "32"
    assert Setting(cells=1024).variables("rbtree")["HALO_BENCH_BINS"] == "1024"
    assert Setting(bucket=64).variables("mesh") == {"HALO_BENCH_BUCKET": "64"}


def test_keys_of_a_grid_are_those_of_the_same_objects() -> None:
    assert merge_keys("4096 40 900\n8192 56 901\n", "16 40 1\n80 56 2\n") == (
        "4096 40 1\n8192 56 2\n"
    )
    for grid in ("16 40 1\n", "16 40 1\n80 40 2\n"):
        with pytest.raises(ValueError):
            merge_keys("4096 40 900\n8192 56 901\n", grid)


def test_the_default_is_compared_with_the_best_of_each_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not tidy_sweep.check(sweep_result(tmp_path / "mesh.json"))
    printed = capsys.readouterr().out
    assert "1.20 times the cycles of the best buckets" in printed
    assert "1.00 times the time of the best cells" in printed
