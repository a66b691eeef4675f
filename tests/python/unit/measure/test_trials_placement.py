"""What a measurement answers: what to use, and only what its rounds show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import to_builtins

from halo.base.schema.trial import Trial
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.findings import Findings
from halo.measure.placement import Answer, advice, conclude, is_open
from halo.measure.racing.gains import HALO, Objective, gain_of, recommended
from halo.measure.results import summarize_findings
from halo.measure.statistics import Ratio
from support.samples.findings import JEMALLOC, MACHINE, NOISE, STEADY, measured, times

KEPT = "halo over glibc"


def busy(factor: float, around: Sequence[float] = STEADY) -> list[Trial]:
    """Runs that wait for a processor, by chance long, and otherwise only compute."""
    waits = (0.3, 2.5, 0.9, 1.7, 0.4, 3.1, 1.1, 0.2, 2.2, 0.6, 1.5)
    seconds = [factor * time for time in around]
    return [
        Trial(own + wait, own, 0.0, 1000, main_processor=own, delayed=wait)
        for own, wait in zip(seconds, waits, strict=True)
    ]


def test_a_plan_that_gains() -> None:
    reference = {HALO: times(0.5), "jemalloc": times(0.8)}
    found = conclude(measured({"halo": times(0.5)}, KEPT, reference))
    assert found.answer is Answer.PLAN_HELPS
    assert "use the plan 'halo' over glibc: 2.00 times as fast" in found.sentence
    assert found.sentence.endswith("as today, with glibc, by wall-clock time.")
    assert "best allocator with its best setting, jemalloc: 1.60 times as fast" in found.more


def test_a_gain_in_processor_time_is_told_however_long_the_runs_wait() -> None:
    reference = {"glibc": busy(1.0), "jemalloc": busy(1.02), HALO: busy(0.9)}
    found = conclude(measured({"halo": busy(0.9)}, KEPT, reference))
    assert found.answer is Answer.PLAN_HELPS
    assert "1.11 times as fast" in found.sentence and "by processor time" in found.sentence


@pytest.mark.parametrize("faster", ["jemalloc", "jemalloc:huge-pages"])
def test_an_allocator_or_a_setting_that_gains_is_the_answer(faster: str) -> None:
    reference = {"jemalloc": times(1.1), faster: times(0.7)}
    found = conclude(measured({"halo": times(1.01)}, reference=reference))
    assert found.answer is Answer.ALLOCATOR_HELPS
    assert f"use {faster}: 1.43 times as fast" in found.sentence
    assert found.more == "It is not placement-sensitive: its plan does not change its time by 2%."


def test_a_plan_that_gains_less_than_an_allocator_is_not_the_answer() -> None:
    reference = {"jemalloc": times(0.7), HALO: times(0.8)}
    findings = measured({"halo": times(0.8)}, KEPT, reference)
    found = conclude(findings)
    assert found.answer is Answer.ALLOCATOR_HELPS and "use jemalloc" in found.sentence
    assert "'halo over glibc', is 0.87 times as fast" in found.more
    assert not is_open(findings)


def test_nothing_gains() -> None:
    found = conclude(measured({"halo": times(1.001), "dense": times(0.999)}))
    assert found.answer is Answer.NOT_SENSITIVE
    assert "leave it as it is, with glibc: nothing that halo knows gains more than 2%" in (
        found.sentence
    )
    assert "none of 2 plans changes its time by 2%" in found.more


def test_placement_matters_and_the_allocators_is_the_best() -> None:
    found = conclude(measured({"halo": times(1.0), "dense": times(1.95)}))
    assert found.answer is Answer.NO_GAIN
    assert "under the plan 'dense over glibc' it takes 1.95 times as long" in found.more


@pytest.mark.parametrize("label", [HALO, "jemalloc"])
def test_what_may_gain_cannot_be_told(label: str) -> None:
    findings = measured({"halo": times(0.97)}, KEPT, {label: times(0.97, NOISE)})
    findings.reference.setdefault(HALO, times(1.0))
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    name = "the plan 'halo' over glibc" if label == HALO else label
    assert f"it cannot be told whether {name} gains: it is 1.03 times as fast" in found.sentence
    assert found.needed and found.sentence.endswith(f"; {found.needed}.")
    assert is_open(findings)


def test_what_may_lose_does_not_count_against_the_answer() -> None:
    """Times of others say nothing of what is to be used."""
    reference = {HALO: times(0.5), "jemalloc": times(1.3, NOISE)}
    findings = measured({"halo": times(0.5), "dense": times(1.0, NOISE)}, KEPT, reference)
    assert conclude(findings).answer is Answer.PLAN_HELPS
    assert not is_open(findings)


@pytest.mark.parametrize(("noise", "needs_more"), [(0.01, False), (0.04, True)])
def test_an_early_answer_is_final_if_half_of_its_gain_is_certain(
    noise: float, needs_more: bool
) -> None:
    """After seven rounds the second one is final as well."""
    rounds = [1 - noise, 1 + noise, 1.0, 1 + noise / 2] * 2
    for count in (4, 7):
        slower = times(1.2, rounds[:count])
        for best, kept, answer in (
            (HALO, KEPT, Answer.PLAN_HELPS),
            ("jemalloc", "none over glibc", Answer.ALLOCATOR_HELPS),
        ):
            reference = {"jemalloc": slower, best: times(0.6, rounds[:count])}
            findings = measured({"halo": times(0.6)}, kept, reference)
            findings.reference["glibc"] = times(1.0, [1.0] * count)
            assert conclude(findings).answer is answer
            assert is_open(findings) == (needs_more and count == 4)


@pytest.mark.parametrize("rounds", [4, 5, 6])
def test_few_rounds_that_tell_nothing_are_to_be_nine(rounds: int) -> None:
    findings = measured({"halo": times(0.97)}, KEPT)
    findings.reference = {
        "glibc": times(1.0, NOISE[:rounds]),
        HALO: times(0.97, NOISE[::-1][:rounds]),
    }
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    assert found.needed == "repeat it with --trials 9 or more"


@pytest.mark.parametrize("trials", [1, 2, 3])
@pytest.mark.parametrize("kept", ["none over glibc", KEPT])
def test_few_trials_never_conclude(trials: int, kept: str) -> None:
    findings = measured({"halo": times(1.0)}, kept, {HALO: times(0.5)})
    findings.reference = {label: found[:trials] for label, found in findings.reference.items()}
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    assert found.needed == "repeat it with --trials 7 or more"


def test_a_plan_is_to_be_faster_than_the_allocator_that_would_be_used_instead() -> None:
    trials = {"glibc": times(1.0), "jemalloc": times(0.8), HALO: times(0.79, NOISE)}
    assert recommended(trials, "glibc", has_plan=True) == "jemalloc"
    trials[HALO] = times(0.7)
    assert recommended(trials, "glibc", has_plan=True) == HALO
    assert recommended(trials, "glibc", has_plan=False) == "jemalloc"
    assert recommended({}, "glibc", has_plan=True) == "glibc"


def test_gains_are_those_of_common_rounds() -> None:
    trials = {"glibc": times(1.0), "jemalloc": times(0.5)[:8]}
    assert gain_of(trials, "jemalloc", "glibc").rounds == 8
    assert gain_of(trials, "mimalloc", "glibc").rounds == 0


def of_memory(seconds: float, megabytes: int) -> list[Trial]:
    return [Trial(it.wall, it.user, 0.0, megabytes * 10**6) for it in times(seconds)]


def test_the_lowest_memory_among_the_fastest() -> None:
    reference = {
        "glibc": of_memory(1.0, 100),
        "jemalloc": of_memory(1.01, 80),
        "mimalloc": of_memory(1.2, 50),
        HALO: of_memory(0.995, 120),
    }
    findings = measured({"halo": times(0.99)}, KEPT, reference)
    findings.objective = Objective.MEMORY
    found = conclude(findings)
    assert findings.use == "jemalloc"
    assert "use jemalloc: its peak memory is 80 MB, with glibc 100 MB" in found.sentence
    assert "times as fast" in found.more
    assert summarize_findings(findings).objective == "memory"
    findings.reference |= {"jemalloc": of_memory(1.05, 80)}
    assert findings.use == "glibc", "it is too slow"


def test_the_summary_has_the_same_sentences() -> None:
    findings = measured({"halo": times(0.5)}, KEPT, {HALO: times(0.5)})
    found, summary = conclude(findings), summarize_findings(findings)
    assert to_builtins(summary.verdict) == {
        "answer": "plan-helps",
        "sentence": found.sentence,
        "needed": None,
        "more": found.more,
    }
    assert (summary.use, summary.clock) == (HALO, "wall-clock time")
    assert summary.over_native == pytest.approx(2, rel=0.01)


def test_allocators_between_which_no_difference_shows_are_named() -> None:
    findings = Findings("prog", {}, MACHINE)
    findings.reference = {"glibc": times(1.0), "jemalloc": times(1.0, NOISE), "mimalloc": times(2)}
    found = conclude(findings)
    assert found.answer is Answer.ALLOCATORS_ONLY
    assert "glibc" in found.sentence and "jemalloc" in found.sentence
    assert "mimalloc" not in found.sentence


def test_a_plan_that_is_slower_on_another_input() -> None:
    findings = measured({"halo": times(0.9)})
    findings.rejected = KEPT
    assert "makes it faster on one input and slower on another" in conclude(findings).more


def test_more_trials_are_advised_the_wider_the_interval_is() -> None:
    few, more = (advice(Ratio(1.0, 1 - half, 1 + half), 11) for half in (0.03, 0.06))
    assert "--trials 30" in few and "--trials 100" in more
    assert "--trials" not in advice(Ratio(1.0, 0.5, 1.5), 11), "hundreds would hardly help"


def test_plans_over_another_allocator_are_compared_with_that() -> None:
    findings = measured({"halo": times(1.0)})
    findings.candidates = [
        *findings.candidates,
        Candidate(PlanVariant("none", "none"), JEMALLOC, None),
        Candidate(PlanVariant("dense", "dense"), JEMALLOC, Path("/r/dense.plan")),
    ]
    findings.race |= {"none over jemalloc": times(1.3), "dense over jemalloc": times(1.31)}
    assert conclude(findings).answer is Answer.NOT_SENSITIVE
