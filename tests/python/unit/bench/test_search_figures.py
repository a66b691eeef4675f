"""The arithmetic of bench/search.py: ratios, rank correlations and bounds."""

from __future__ import annotations

import pytest
import search
from search import Measured

from halo.schema.prediction import LoadedTrace, Predicted
from support.samples.layouts import replayed, replayed_layout

LEVELS = {"L1D": 40, "L2": 20, "DTLB": 4}


def predicted(cycles: int) -> Predicted:
    return Predicted(name="0", accesses=100, cycles=cycles, peak_bytes=0, misses=LEVELS)


def measured(found: str, seconds: dict[str, float], cycles: dict[str, int]) -> Measured:
    layouts = (
        replayed_layout("as-recorded", "recorded", 100, **LEVELS),
        replayed_layout("hml", "reuse", 60, **LEVELS),
        replayed_layout("random", "dense", 10, **LEVELS),
    )
    return Measured(
        found,
        1.0,
        LoadedTrace(accesses=100, kept=100, objects=0),
        {label: [value] * 3 for label, value in seconds.items()},
        predicted(100),
        {label: predicted(value) for label, value in cycles.items()},
        replayed(*layouts, min_lines=65),
    )


def test_the_search_is_compared_with_the_best_other_plan_or_none() -> None:
    seconds = {"glibc": 2.0, "dense": 1.5, "search": 1.0}
    assert measured("search", seconds, {}).over_others.value == pytest.approx(1.5)
    without = {"glibc": 1.2, "dense": 1.5}
    assert measured("glibc", without, {}).over_others.value == pytest.approx(1.0)
    same = {"glibc": 2.0, "dense": 1.5, "halo": 1.0}
    assert measured("dense", same, {}).over_others.value == pytest.approx(1.0 / 1.5)


def test_predictions_are_ranked_with_the_run_without_a_plan() -> None:
    seconds = {"glibc": 2.0, "dense": 1.5, "search": 1.0}
    assert measured("search", seconds, {"dense": 80, "search": 50}).agreement == pytest.approx(1.0)
    assert measured("search", seconds, {"dense": 50, "search": 80}).agreement == pytest.approx(0.5)
    assert measured("search", seconds, {"dense": 50}).agreement is None


def test_bounds_are_recorded_best_plan_best_order_and_each_line_once() -> None:
    found = measured("search", {"glibc": 2.0}, {"dense": 80, "search": 50})
    rows = list(search.layouts_of(found))
    assert [(name, cycles) for name, cycles, _ in rows[:3]] == [
        ("recorded", 100),
        ("plan search", 50),
        ("order hml", 60),
    ]
    name, cycles, misses = rows[3]
    assert name == "each line once"
    assert misses == {"L1D": 65, "L2": 65, "DTLB": 2}
    assert cycles == 65 * 200 + 2 * 8


def test_thresholds_hold_for_all_programs(capsys: pytest.CaptureFixture[str]) -> None:
    good = measured(
        "search", {"glibc": 2.0, "dense": 1.5, "search": 1.0}, {"dense": 80, "search": 50}
    )
    assert search.clock({str(at): good for at in range(4)})
    slower = measured(
        "search", {"glibc": 2.0, "dense": 0.9, "search": 1.0}, {"dense": 50, "search": 80}
    )
    assert not search.clock({"a": good, "b": good, "c": good, "d": good, "e": slower})
    assert "4 of 5 at 1.05" in capsys.readouterr().out
