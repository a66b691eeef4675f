"""Figures of the heap in the cache: shares, miss rates by size, and footprints."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import pytest

from halo.base.errors import BadInput
from halo.base.schema.simulation import CacheSweep, SweptCache
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from halo.report.results.simulations import read_heap_simulations
from halo.studies.conflicts.figures.cache_sweep import LOWEST, Swept, draw_panel, heap_share
from halo.studies.conflicts.figures.heap_misses import shares_of
from support.samples.simulations import WAYS, save, simulated, sweep
from support.svg import words


def make(figure: str, paths: list[Path], ending: str) -> str:
    return find_figure(figure).make(paths, FigureOptions(), ending).decode()


def test_shares_are_of_all_accesses_and_of_all_misses(tmp_path: Path) -> None:
    paths = [save(tmp_path, simulated(name)) for name in ("a", "b")]
    assert "| a | 20.0 | 80.0 | 4.0 |\n" in make("heap-misses", paths, "md")
    rows = list(csv.DictReader(io.StringIO(make("heap-misses", paths, "csv"))))
    assert [float(rows[0][key]) for key in ("accesses", "misses")] == [20.0, 80.0]
    drawn = words(find_figure("heap-misses").make(paths, FigureOptions(), "svg"))
    for word in ("Share of the heap", "misses of the first cache", "512 sets x 2 ways", "% of all"):
        assert word in drawn


def test_a_program_without_heap_accesses_has_no_ratio(tmp_path: Path) -> None:
    nothing: dict[str, Any] = {"accesses": 0, "misses": {"L1D": 0}}
    path = save(tmp_path, simulated(**nothing, outside=nothing))
    assert shares_of(read_heap_simulations([path])[0]).ratio is None
    assert "| prog | 0.0 | 0.0 | - |" in make("heap-misses", [path], "md")


def test_footprints_are_a_table(tmp_path: Path) -> None:
    path = save(tmp_path, simulated())
    assert "| prog | 30 | 3,000 | 2,000 | 1,000 |\n" in make("footprint", [path], "md")
    assert json.loads(make("footprint", [path], "json"))[0]["final_live_bytes"] == 1000


def test_the_heaps_share_is_tabulated_by_size(tmp_path: Path) -> None:
    """20 misses of the heap with two ways, and as many or more others."""
    path = save(tmp_path, simulated(sweep=sweep({8 << 10: 20, 16 << 10: 60})))
    lines = make("cache-sweep", [path], "md").splitlines()
    assert lines[0].startswith("| Program | 8 KiB | 16 KiB |") and "| 1024 KiB |" in lines[0]
    assert lines[2].startswith("| prog | 50.0 | 25.0 | 66.7 |")
    records = json.loads(make("cache-sweep", [path], "json"))
    assert len(records) == 32
    assert records[3] == {
        "program": "prog",
        "bytes": 8192,
        "ways": 8,
        "heap_rate": 40.0,
        "outside_rate": 2.5,
        "heap_share": 80.0,
    }


def test_rates_are_drawn_by_size_for_each_kind_and_number_of_ways() -> None:
    caches = tuple(SweptCache(8192 << step, 1, 20 >> step, 0) for step in range(3))
    axes = matplotlib.figure.Figure().subplots()
    draw_panel(axes, Swept("prog", CacheSweep(64, 200, 800, caches)))
    rates = [[float(y) for y in np.asarray(line.get_ydata())] for line in axes.lines]
    assert rates == [[10.0, 5.0, 2.5], [LOWEST] * 3]
    assert axes.lines[0].get_color() != axes.lines[1].get_color()
    assert axes.lines[0].get_linestyle() != axes.lines[1].get_linestyle()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["8", "16", "32"]


def test_every_line_of_the_sweep_has_a_meaning(tmp_path: Path) -> None:
    paths = [save(tmp_path, simulated(f"p{number}")) for number in range(5)]
    drawn = words(find_figure("cache-sweep").make(paths, FigureOptions(), "svg"))
    for word in ("heap", "all other memory", "1 way", *(f"{ways} ways" for ways in WAYS[1:]), "p4"):
        assert word in drawn


def test_the_heaps_share_of_no_misses_is_nothing() -> None:
    assert heap_share(SweptCache(8192, 1, 0, 0)) == 0.0


def test_sweeps_have_to_be_alike(tmp_path: Path) -> None:
    none = save(tmp_path, simulated("none", sweep=None))
    with pytest.raises(BadInput, match=r"none\.json has no sweep; simulate .* with --sweep"):
        make("cache-sweep", [none], "svg")
    fewer = sweep()
    fewer["caches"] = fewer["caches"][:4]
    paths = [save(tmp_path, simulated("a")), save(tmp_path, simulated("b", sweep=fewer))]
    with pytest.raises(BadInput, match="sweeps over different caches"):
        make("cache-sweep", paths, "md")
