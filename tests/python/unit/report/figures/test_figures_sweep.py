"""The figure of sweeps of Tidy's buckets and cells."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from halo.base.errors import BadInput
from halo.report.figures.base import FigureOptions
from halo.report.figures.registry import find_figure
from halo.studies.hints.sweep_document import SweepDocument
from support.samples.sweeps import sweep_result
from support.svg import words


def make(ending: str, *paths: Path) -> bytes:
    return find_figure("tidy-sweep").make(paths, FigureOptions(), ending)


def test_the_table_is_relative_to_malloc(tmp_path: Path) -> None:
    path = sweep_result(tmp_path / "mesh.json")
    table = make("md", path).decode()
    assert "| mesh | default | 0.60 | 0.60 | - | 0.60 | 0.60 |" in table
    assert "| mesh | buckets of 1024 bytes | 0.50 | 0.50 | - | 0.50 | 0.60 |" in table
    assert "| mesh | 256 fixed cells | 0.59 |" in table
    records = json.loads(make("json", path))
    assert [one["placement"] for one in records][:3] == ["hints ignored", "default", "buckets"]


def test_the_drawing_names_levels_sizes_and_the_machine(tmp_path: Path) -> None:
    drawn = words(make("svg", sweep_result(tmp_path / "mesh.json")))
    for word in ("mesh", "DTLB", "measured time", "1024", "256", "Some Processor", "miucin"):
        assert word in drawn


def test_results_without_times_are_drawn_without_them(tmp_path: Path) -> None:
    path = sweep_result(tmp_path / "mesh.json", rounds=0)
    assert "measured time" not in words(make("svg", path))
    assert "time" not in make("csv", path).decode().splitlines()[0]


def test_results_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    timed, other = sweep_result(tmp_path / "a.json"), sweep_result(tmp_path / "b.json", rounds=0)
    with pytest.raises(BadInput, match="only one is timed"):
        make("svg", timed, other)


def test_damaged_results_are_refused(tmp_path: Path) -> None:
    path = sweep_result(tmp_path / "mesh.json")
    document = msgspec.json.decode(path.read_bytes(), type=SweepDocument)
    for damaged, fault in (
        (msgspec.structs.replace(document, cells=()), "no buckets or no cells"),
        (
            msgspec.structs.replace(
                document, plain=msgspec.structs.replace(document.plain, seconds=())
            ),
            "not all timed",
        ),
        (
            msgspec.structs.replace(
                document, plain=msgspec.structs.replace(document.plain, misses={"L1D": 1})
            ),
            "different levels",
        ),
    ):
        path.write_bytes(msgspec.json.encode(damaged))
        with pytest.raises(BadInput, match=fault):
            make("svg", path)
