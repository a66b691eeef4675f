"""The fast paths of libhalo.so execute what the golden file says, no instruction more or less."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from command import BUILD, REPOSITORY, load_module
from engines import needs_qemu

golden = load_module(REPOSITORY / "tests" / "golden" / "fast_paths.py", "golden_fast_paths")
Cost, Counted, Golden = golden.Cost, golden.Counted, golden.Golden


@needs_qemu
def test_the_counts_are_those_of_the_golden_file() -> None:
    recorded, now = golden.read_golden(), golden.measure(BUILD)
    if sentence := golden.other_compiler(recorded, now):
        warnings.warn(sentence, stacklevel=1)
    found = golden.differences(recorded, now)
    assert not found, "\n".join([*found, f"if that is meant to be: {golden.RENEW}"])


@needs_qemu
def test_the_paths_are_those_that_they_are_named_for() -> None:
    """Each group has served just its own path's operations, and nothing was forwarded instead."""
    run = golden.run_fast_paths(BUILD, with_stats=True)
    each = int(run.stdout.split()[0])
    assert each > 64
    assert [group["allocations"] for group in run.stats["groups"]] == [each] * 4
    # Two of the four groups' blocks are freed between markers as free_grouped.
    assert {one.path: one.times for one in run.counted} == {
        path: 128 if path == "free_grouped" else 64 for path in golden.read_golden().costs
    }


@needs_qemu
def test_the_plugin_counts_right(tmp_path: Path) -> None:
    """Code in assembly: push, mov from memory, add to it twice, cmp, jne, jmp, pop, ret."""
    counted, _ = golden.run_counted(BUILD, tmp_path, "--known-work")
    assert counted == [Counted("known_work", 64, Cost(9, 5, 3, 3))]


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
