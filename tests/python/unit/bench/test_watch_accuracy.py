"""The arithmetic of the rows that measure the watch."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from watch_accuracy import Threshold, chance_of, exponent, found_misses, predictions, similar

from halo.studies.pollution.locality.document import SampledObjects, WatchCounts
from halo.studies.pollution.locality.results import LocalProgram, read_localities
from support.samples.locality import context, counts, locality, locality_result


def interval(pages: int, needed: int, objects: int = 4) -> SampledObjects:
    return SampledObjects(
        objects=objects, pages=pages * objects, within=objects, needed=needed * objects
    )


@pytest.fixture
def program(tmp_path: Path) -> list[LocalProgram]:
    contexts = [
        context(1, 10, rated=3, variance=0.2),
        *[context(1, 10)] * 3,
        context(0, 0, rated=0),
    ]
    return read_localities([locality_result(tmp_path / "prog.json", locality(*contexts))])


def test_a_threshold_is_met_at_its_value() -> None:
    assert Threshold("share", 0.05, 0.05, at_most=True).met
    assert not Threshold("share", 0.0501, 0.05, at_most=True).met
    assert Threshold("share", 0.98, 0.98, at_most=False).met
    assert str(Threshold("share", 0.9, 0.98, at_most=False)).startswith("MISSED: share 90.00%")
    assert not Threshold("share", math.nan, 0.98, at_most=False).met


def test_the_chance_of_equal_sides() -> None:
    assert chance_of(5, 0) == pytest.approx(1 / 32)
    assert chance_of(1, 1) == pytest.approx(0.75)
    assert chance_of(0, 0) == 1


def test_the_exponent_is_that_of_a_power() -> None:
    powers = [interval(4**at, 2**at) for at in range(1, 6)]
    assert exponent(powers) == pytest.approx(0.5)
    assert math.isnan(exponent(powers[:1]))


def test_misses_that_were_found() -> None:
    made: WatchCounts = counts(100, false_hits=30)
    assert found_misses(made) == 0
    assert found_misses(counts(10)) is None


def test_rows_have_means_over_programs(program: list[LocalProgram]) -> None:
    rows = similar(program)
    assert rows.cells[0][:3] == ["prog", "100", "97.0%"]
    near, varied = rows.thresholds
    assert near.found == pytest.approx(0.97)
    assert not near.met
    assert varied.found == pytest.approx(0.25), "one of four with a rate"
    assert [one.found for one in predictions(program).thresholds] == [0.9, 0, 0.9]
