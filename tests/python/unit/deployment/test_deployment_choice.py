"""What is deployed of results: the plan, an allocator alone, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.deployment.choice import choice_of_allocator, choice_of_results
from halo.errors import BadInput, BadPlan
from halo.process.allocators import Allocator, find_allocator
from halo.results.model import Measurement
from halo.results.reader import read_measurement
from support.samples.results import document, save

TRIALS = 7


def times(trials: int = TRIALS, **medians: float) -> dict[str, Sequence[float]]:
    return {name: [median] * trials for name, median in medians.items()}


def measurement(folder: Path, kept: str, found: dict[str, Sequence[float]]) -> Measurement:
    return read_measurement(save(document(kept=kept, times=found), folder / "results"))


def test_a_plan_that_lost_leaves_the_fastest_allocator(tmp_path: Path) -> None:
    found = times(glibc=3.0, jemalloc=2.0, halo=2.5)
    choice = choice_of_results(measurement(tmp_path, "halo", found))
    assert choice.plan is None
    assert choice.allocator == find_allocator("jemalloc")
    assert choice.program == "prog"
    assert choice.why.startswith("under jemalloc, prog is 1.50 times as fast as under glibc")


def test_without_a_plan_the_allocator_has_to_beat_glibc(tmp_path: Path) -> None:
    faster = times(glibc=3.0, jemalloc=2.0, halo=2.0)
    assert choice_of_results(measurement(tmp_path, "none", faster)).allocator.name == "jemalloc"
    with pytest.raises(BadInput, match="nothing to deploy"):
        equal = times(glibc=2.0, jemalloc=2.0, halo=2.0)
        choice_of_results(measurement(tmp_path, "none", equal))


def test_few_trials_prove_nothing(tmp_path: Path) -> None:
    """Neither that an allocator is worth it, nor that the plan which won the race is not."""
    few = times(2, glibc=3.0, jemalloc=2.0, halo=2.5)
    with pytest.raises(BadInput, match="nothing to deploy"):
        choice_of_results(measurement(tmp_path, "none", few))
    with pytest.raises(BadPlan, match=r"halo\.plan cannot be read"):
        choice_of_results(measurement(tmp_path, "halo", few))


def test_glibc_alone_is_nothing_to_deploy() -> None:
    with pytest.raises(BadInput, match="nothing to deploy"):
        choice_of_allocator(Allocator("glibc", None))
