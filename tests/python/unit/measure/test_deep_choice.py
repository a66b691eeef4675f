"""What each effort tries, and which deep analyses are worth trying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from halo.base.errors import UsageError
from halo.measure.candidates import USUAL, PlanVariant, make_plans
from halo.measure.deep import choice as module
from halo.measure.deep.analysis import AnalysisNeeds, DeepAnalysis, limits_for
from halo.measure.deep.choice import (
    DEEP_ANALYSES,
    VARIANTS,
    Choice,
    Examined,
    choose,
    choose_variants,
    examine,
    told,
    worth_trying,
)
from halo.measure.racing.budget import EFFORTS, Effort
from halo.plan.strategies.base import Prospect, StrategyInput
from halo.record.parts import MAX_OBJECT, MAX_TRACED
from halo.record.profile import OBJECT_TRACE, ObjectTrace, Profile
from halo.record.sink_options import OBJECTS
from support.samples.plan import Sample

QUICK, NORMAL, THOROUGH = EFFORTS.values()
BY_NAME = {it.name: it for it in DEEP_ANALYSES}


def labels(variants: Sequence[PlanVariant]) -> list[str]:
    return [it.label for it in variants]


def test_the_table_has_analyses_that_can_be_recorded_and_planned() -> None:
    assert list(BY_NAME) == ["conflict", "search", "confine"]
    assert len(set(labels(VARIANTS))) == len(VARIANTS)
    assert not any(it.needs for it in USUAL)
    for one in DEEP_ANALYSES:
        assert {it.needs for it in one.variants} == {one.section}
        assert one.name in choose_variants([one.name])[0].strategy
        assert limits_for([one], 128).need_exact


def test_only_a_thorough_measurement_tests_deep_analyses_unasked() -> None:
    for effort in (QUICK, NORMAL):
        found = choose([], effort)
        assert (found.variants, found.named, found.tested) == (list(USUAL), (), [])
        assert not found.limits.need_exact and found.limits.max_object == MAX_OBJECT
    found = choose([], THOROUGH)
    assert labels(found.variants) == labels(USUAL)
    assert tuple(found.tested) == DEEP_ANALYSES and not found.excluded
    assert found.limits.sinks["conflicts"] == "this"
    assert found.limits.sinks[OBJECTS.name]
    assert found.limits.max_object == MAX_TRACED


@pytest.mark.parametrize("effort", [NORMAL, THOROUGH])
@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        ("conflict", "conflict"),
        ("search", "search"),
        ("search-3", "search"),
        ("confine", "confine"),
        ("dense", ""),
        ("none", ""),
    ],
)
def test_a_named_candidate_is_tried_without_a_test(
    name: str, analysis: str, effort: Effort
) -> None:
    """What it needs is recorded, and no more."""
    found = choose([name], effort)
    needed = [BY_NAME[analysis]] if analysis else []
    expected = [it for it in choose_variants([name]) if analysis or not it.needs]
    assert labels(found.variants) == labels(expected)
    assert (found.named, found.tested) == (needed, ())
    assert found.limits == limits_for(needed, 128)
    examined = examine(found, Sample().profile())
    assert [(it.analysis, it.prospect) for it in examined] == [
        (it, Prospect(True, "--candidates names it")) for it in needed
    ]
    assert worth_trying(found, examined) == found.variants


def test_unknown_candidates_are_refused() -> None:
    with pytest.raises(UsageError, match="The candidate 'magic' does not exist; choose among:"):
        choose(["dense", "magic"], NORMAL)


def test_several_recorded_inputs_have_no_trace() -> None:
    found = choose([], THOROUGH, recorded=3)
    assert [it.name for it in found.tested] == ["conflict"]
    assert list(found.excluded) == ["search", "confine"]
    assert not found.limits.sinks.get(OBJECTS.name)
    told_of = [it.prospect for it in examine(found, Sample().profile())]
    assert (
        told_of[1:]
        == [Prospect(False, "it plans from the trace of one run, and 3 inputs are recorded")] * 2
    )
    assert choose(["conflict"], NORMAL, recorded=3).named == [BY_NAME["conflict"]]
    with pytest.raises(UsageError, match=r"The candidate search plans .* leave out --also"):
        choose(["conflict", "search"], NORMAL, recorded=2)


@pytest.mark.parametrize(
    "analyses",
    [it for n in range(4) for it in combinations(DEEP_ANALYSES, n)],
    ids=lambda those: "+".join(it.name for it in those) or "none",
)
def test_a_recording_has_what_each_of_the_analyses_needs(
    analyses: tuple[DeepAnalysis, ...],
) -> None:
    found = limits_for(analyses, 64)
    assert found.sinks["distance"] == 64
    for one in analyses:
        assert found.sinks.items() >= one.needs.sinks.items()
        assert found.max_object >= one.needs.max_object
    if not analyses:
        assert not found.need_exact and found.max_object == MAX_OBJECT


def sample(max_object: int) -> Profile:
    """A hot context of small objects, and one whose objects may be large."""
    found = Sample(max_object=max_object)
    first = found.add([0x10, 0x20], accesses=900, allocations=4, sizes=[(24, 4)])
    second = found.add([0x30, 0x20], accesses=800, allocations=4, sizes=[(32, 3), (50_000, 1)])
    found.edge(first, second, 700)
    return found.profile()


def test_the_usual_plans_do_not_depend_on_what_else_is_recorded(tmp_path: Path) -> None:
    """Objects that only an analysis needs are in no plan of others."""
    contents = []
    for effort, max_object in ((NORMAL, MAX_OBJECT), (THOROUGH, MAX_TRACED)):
        folder = tmp_path / str(max_object)
        folder.mkdir()
        plans = make_plans(sample(max_object), choose([], effort).variants, folder)
        contents.append({variant.label: path.read_bytes() for variant, path, _ in plans})
    assert contents[0] == contents[1] and "halo" in contents[0]


def profile_with_trace() -> Profile:
    section = {OBJECT_TRACE.key: ObjectTrace("x.objects", ((0, 0),))}
    return replace(sample(MAX_OBJECT), sections=section)


def test_what_could_not_matter_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A further analysis is one more entry of the table."""
    asked: list[StrategyInput] = []

    def analysis(name: str, found: Prospect) -> DeepAnalysis:
        def test(subject: StrategyInput) -> Prospect:
            asked.append(subject)
            return found

        needs = AnalysisNeeds({OBJECTS.name: 1}, 512)
        return DeepAnalysis(name, needs, test, (PlanVariant(name, "search"),))

    first = analysis("first", Prospect(False, "0.3% is under 5%"))
    second = analysis("second", Prospect(True, "7% is enough"))
    monkeypatch.setattr(module, "DEEP_ANALYSES", (first, second))
    chosen = Choice(USUAL, tested=(first, second), limits=limits_for([first, second], 128))
    examined = examine(chosen, profile_with_trace())
    assert [subject.max_size for subject in asked] == [512, 512]
    more = worth_trying(chosen, examined)[len(USUAL) :]
    assert labels(more) == ["second"] and more[0].options["max_object"] == "512"
    outcomes = [it.outcome([*USUAL, *more]) for it in examined]
    assert [told(it) for it in outcomes] == [
        "first: not tried: 0.3% is under 5%",
        "second: tried, 1 plan: 7% is enough",
    ]
    assert [(it.tried, it.plans) for it in outcomes] == [(False, 0), (True, 1)]
    assert told(examined[1].outcome(USUAL)) == "second: tried, no plan: 7% is enough"
    assert [it.prospect.why for it in examine(chosen, sample(MAX_OBJECT))] == [
        "the recording has no section object_trace"
    ] * 2


def test_without_a_recording_nothing_deep_is_tried() -> None:
    for chosen in (choose([], THOROUGH), choose([it.name for it in DEEP_ANALYSES], NORMAL)):
        found = chosen.without_recording()
        assert {it.strategy for it in found.variants} <= {"everything"}
        examined = examine(found, Sample().profile())
        assert [(it.analysis.name, it.prospect.why) for it in examined] == [
            (name, "nothing was recorded") for name in BY_NAME
        ]
        assert worth_trying(found, examined) == found.variants
    assert examine(choose([], NORMAL).without_recording(), Sample().profile()) == []


def test_plans_of_an_analysis_are_counted_by_their_labels() -> None:
    search = Examined(BY_NAME["search"], Prospect(True, "why"))
    made = [it.limited(4096) for it in choose_variants(["search-2", "search-4", "dense"])]
    assert told(search.outcome(made)) == "search: tried, 2 plans: why"
