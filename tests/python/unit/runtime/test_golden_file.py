"""Measured counts are compared with those of the golden file."""

from __future__ import annotations

import pytest

from support.command import REPOSITORY, load_module

golden = load_module(REPOSITORY / "tests" / "golden" / "fast_paths.py", "golden_fast_paths")
Cost, Counted, Golden = golden.Cost, golden.Counted, golden.Golden


def test_a_slower_path_shows_with_its_counts() -> None:
    before = Golden("gcc", {"free": Cost(10, 3, 1, 2), "malloc": Cost(20, 6, 2, 4)})
    after = Golden("gcc", {"free": Cost(10, 3, 1, 2), "malloc": Cost(21, 7, 2, 4)})
    assert golden.differences(before, after) == ["malloc: instructions 20 → 21, loads 6 → 7"]
    assert golden.differences(after, before) == ["malloc: instructions 21 → 20, loads 7 → 6"]
    assert golden.differences(before, before) == []


def test_a_path_that_is_not_measured_or_not_recorded_shows() -> None:
    one, two = Golden("gcc", {"free": Cost(1, 1, 1, 1)}), Golden("gcc", {"new": Cost(1, 1, 1, 1)})
    assert golden.differences(one, two) == ["free: not measured", "new: not in the golden file"]


@pytest.mark.parametrize(
    ("instructions", "fine"), [(15, True), (20, True), (24, True), (25, False)]
)
def test_another_compilers_code_may_cost_a_fifth_more(instructions: int, fine: bool) -> None:
    before = Golden("GCC 12", {"malloc": Cost(20, 6, 2, 4)})
    after = Golden("GCC 13", {"malloc": Cost(instructions, 8, 4, 6)})
    assert "GCC 12" in golden.other_compiler(before, after)
    assert "GCC 13" in golden.other_compiler(before, after)
    assert (golden.differences(before, after) == []) is fine


def test_a_path_without_one_cost_is_refused() -> None:
    counted = [Counted("a", 64, Cost(1, 0, 0, 0)), Counted("b", 60, Cost(9, 0, 0, 0))]
    assert golden.steady_costs(counted) == {"a": Cost(1, 0, 0, 0), "b": Cost(9, 0, 0, 0)}
    with pytest.raises(golden.Unsteady, match="b: 4 times"):
        golden.steady_costs([*counted, Counted("b", 4, Cost(30, 0, 0, 0))])


def test_the_golden_file_is_as_it_would_be_written() -> None:
    assert golden.render(golden.read_golden()) == golden.GOLDEN.read_text()
