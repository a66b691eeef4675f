"""The arithmetic of bench/search.py: ratios, rank correlations and bounds."""

from __future__ import annotations

import pytest
import search
from search import Measured, Planned

from halo.studies.search.document import LoadedTrace, Predicted
from support.samples.layouts import replayed, replayed_layout

LEVELS = {"L1D": 40, "L2": 20, "DTLB": 4}


def predicted(cycles: int) -> Predicted:
    return Predicted(name="0", accesses=100, cycles=cycles, peak_bytes=0, misses=LEVELS)


def planned(cycles: dict[str, int], labels: list[str]) -> Planned:
    layouts = (
        replayed_layout("as-recorded", "recorded", 100, **LEVELS),
        replayed_layout("hml", "reuse", 60, **LEVELS),
        replayed_layout("random", "dense", 10, **LEVELS),
    )
    return Planned(
        labels,
        1.0,
        LoadedTrace(accesses=100, kept=100, objects=0),
        predicted(100),
        {label: predicted(value) for label, value in cycles.items()},
        replayed(*layouts, min_lines=65),
    )


def measured(
    race: dict[str, float], seconds: dict[str, float], cycles: dict[str, int] | None = None
) -> Measured:
    """The search's plans are those of the race, in its order."""
    made = planned(cycles or {}, [it for it in race if it != "glibc"])
    times = {label: [value] * 3 for label, value in seconds.items()}
    return Measured(made, {label: [value] * 3 for label, value in race.items()}, times)


def over(one: Measured, label: str) -> float:
    return one.over_others(label).value


def test_the_fastest_of_the_searchs_plans_is_compared_with_the_best_other_plan() -> None:
    race = {"search": 1.2, "search-2": 1.0, "glibc": 1.5}
    seconds = {"glibc": 2.0, "dense": 1.5, "search": 1.6, "search-2": 1.0}
    found = measured(race, seconds)
    assert (found.search, found.modelled, found.best_other) == ("search-2", "search", "dense")
    assert over(found, found.search) == pytest.approx(1.5)
    assert over(found, found.modelled) == pytest.approx(1.5 / 1.6)


def test_a_race_that_is_not_clear_leaves_the_least_modelled_plan() -> None:
    found = measured({"search": 1.0, "search-2": 1.0}, {"glibc": 2.0, "search": 1.5})
    race = {"search": [1.0, 1.1, 1.2], "search-2": [0.9, 1.1, 1.25]}
    found = Measured(found.made, race, found.seconds)
    assert found.search == found.modelled == "search"


def test_the_search_may_find_no_plan_or_that_of_another_strategy() -> None:
    without = measured({"glibc": 1.0}, {"glibc": 1.2, "dense": 1.5})
    assert without.search == without.modelled == "glibc"
    assert over(without, without.search) == pytest.approx(1.0)
    same = measured({"dense": 1.0, "glibc": 1.1}, {"glibc": 2.0, "dense": 1.5, "halo": 1.0})
    assert over(same, same.search) == pytest.approx(1.0 / 1.5)


def test_predictions_are_ranked_with_the_run_without_a_plan() -> None:
    race, seconds = {"search": 1.0}, {"glibc": 2.0, "dense": 1.5, "search": 1.0}
    right = measured(race, seconds, {"dense": 80, "search": 50, "search-3": 1})
    assert right.agreement == pytest.approx(1.0)
    wrong = measured(race, seconds, {"dense": 50, "search": 80})
    assert wrong.agreement == pytest.approx(0.5)
    assert measured(race, seconds, {"dense": 50}).agreement is None


def test_bounds_are_recorded_best_plan_best_order_and_each_line_once() -> None:
    rows = list(search.layouts_of(planned({"dense": 80, "search": 50}, ["search"])))
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
    race = {"search": 1.0, "glibc": 2.0}
    good = measured(race, {"glibc": 2.0, "dense": 1.5, "search": 1.0}, {"dense": 80, "search": 50})
    assert search.clock({str(at): good for at in range(4)})
    slower = measured(
        race, {"glibc": 2.0, "dense": 0.9, "search": 1.0}, {"dense": 50, "search": 80}
    )
    assert not search.clock({"a": good, "b": good, "c": good, "d": good, "e": slower})
    assert "4 of 5 at 1.05" in capsys.readouterr().out
