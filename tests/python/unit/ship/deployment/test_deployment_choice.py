"""What is deployed of results: the plan, an allocator alone, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import BadInput, BadPlan
from halo.binary.process.allocators import Allocator, find_allocator
from halo.plan import write_plan
from halo.plan.strategies.planning import make_plan
from halo.report.results.model import Measurement
from halo.report.results.reader import read_measurement
from halo.ship.deployment.choice import choice_of_allocator, choice_of_results
from support.samples.plan import Sample
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


@pytest.mark.parametrize("allocator", ["jemalloc", "glibc"])
def test_a_plan_over_the_programs_own_allocator_is_deployed_over_it(
    tmp_path: Path, allocator: str
) -> None:
    """The plan's review says how it is preloaded, if at all; results have its name only."""
    raw = document(kept="halo", times=times(mimalloc=3.0, halo=2.0))
    raw["trials"]["reference"]["libown.so"] = raw["trials"]["reference"].pop("mimalloc")
    raw["summary"] |= {"native": "libown.so", "allocator": "libown.so", "candidate": "halo"}
    for configuration in raw.get("configurations", {}).values():
        configuration["allocator"] = "libown.so"
    folder = save(raw, tmp_path / "results")
    sample = Sample()
    sample.add([16, 48], accesses=9)
    plan = make_plan(sample.profile(), "one-pool", {})
    assert plan.review is not None
    place = folder / f"{read_measurement(folder).kept.plan}"  # type: ignore[union-attr]
    write_plan(replace(plan, review=replace(plan.review, allocator=allocator)), place)
    choice = choice_of_results(read_measurement(folder))
    assert choice.plan == place and choice.allocator == find_allocator(allocator)


def test_without_a_plan_only_a_faster_one_than_the_programs_own_is_deployed(
    tmp_path: Path,
) -> None:
    raw = document(kept="none", times=times(mimalloc=2.0, jemalloc=3.0, halo=2.0))
    raw["trials"]["reference"]["libown.so"] = raw["trials"]["reference"].pop("mimalloc")
    raw["summary"]["native"] = "libown.so"
    with pytest.raises(BadInput, match="nothing to deploy"):
        choice_of_results(read_measurement(save(raw, tmp_path / "results")))


def test_few_trials_prove_nothing(tmp_path: Path) -> None:
    """Neither that an allocator is worth it, nor that the plan is which won the race."""
    few = times(3, glibc=3.0, jemalloc=2.0, halo=1.0)
    for kept in ("none", "halo"):
        with pytest.raises(BadInput, match="nothing to deploy"):
            choice_of_results(measurement(tmp_path / kept, kept, few))
    enough = times(7, glibc=3.0, jemalloc=2.0, halo=1.0)
    with pytest.raises(BadPlan, match=r"halo\.plan cannot be read"):
        choice_of_results(measurement(tmp_path, "halo", enough))


def test_glibc_alone_is_nothing_to_deploy() -> None:
    with pytest.raises(BadInput, match="nothing to deploy"):
        choice_of_allocator(Allocator("glibc", None))
