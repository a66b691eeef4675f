"""What a measurement concludes about placement: only what its intervals show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import to_builtins

from halo.schema.trial import Trial
from halo.trials.candidates import Candidate, PlanVariant
from halo.trials.findings import HALO, Findings
from halo.trials.placement import Answer, advice, all_within, conclude, plan_changes
from halo.trials.results import summarize_findings
from halo.trials.run import final_rounds
from halo.trials.statistics import Ratio
from support.samples.findings import JEMALLOC, MACHINE, NOISE, STEADY, measured, times


def test_narrow_intervals_of_all_plans_show_that_it_is_not_sensitive() -> None:
    found = conclude(measured({"halo": times(1.001), "dense": times(0.999)}))
    assert found.answer is Answer.NOT_SENSITIVE
    assert "prog is not placement-sensitive" in found.sentence
    assert "none of 2 plans changes its time by 2%" in found.sentence
    assert found.sentence.endswith("No plan was kept; the fastest allocator is glibc.")


def test_without_a_recording_too_few_plans_were_tried() -> None:
    findings = measured({"everything": times(1.001)})
    findings.unrecorded = True
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    assert "for it could not be recorded" in found.sentence and found.needed is not None
    assert "halo probe" in found.needed


@pytest.mark.parametrize(
    ("plans", "words"),
    [
        ({"halo": times(1.0, NOISE)}, "past 2%; the fastest allocator is glibc; repeat it with"),
        ({"halo": times(1.12)}, "by its placement or by the runtime's own cost"),
        ({"halo": times(1.0), "dense": times(1.0, NOISE)}, "'dense over glibc' changes its time"),
        ({"halo": times(1.0)[:3]}, "after too few rounds"),
        ({}, "there was no plan to try"),
    ],
)
def test_a_plan_that_was_not_kept_alone_shows_nothing(
    plans: dict[str, Sequence[Trial]], words: str
) -> None:
    found = conclude(measured(plans))
    assert found.answer is Answer.CANNOT_TELL
    assert "it cannot be told whether it is placement-sensitive" in found.sentence
    assert words in found.sentence
    assert found.needed and found.sentence.endswith(f"; {found.needed}.")


def test_times_that_vary_much_allow_no_conclusion() -> None:
    """The plans' intervals alone would: times of one round vary alike, and their ratios do not."""
    wide = times(1.0, [1 + 0.05 * number for number in range(11)])
    findings = measured({"halo": times(1.0)}, reference={"jemalloc": wide})
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    assert "the times vary too much (jemalloc" in found.sentence
    assert found.needed and "an idle machine" in found.needed
    assert any("The times vary much" in w for w in summarize_findings(findings).warnings)


@pytest.mark.parametrize("trials", [1, 3, 6])
@pytest.mark.parametrize("kept", ["none over glibc", "halo over glibc"])
def test_few_trials_never_conclude(trials: int, kept: str) -> None:
    findings = measured({"halo": times(1.0)}, kept, {HALO: times(0.5)})
    findings.reference = {label: found[:trials] for label, found in findings.reference.items()}
    found = conclude(findings)
    assert found.answer is Answer.CANNOT_TELL
    assert found.needed == "repeat it with --trials 7 or more"


def test_a_plan_that_helps() -> None:
    found = conclude(measured({"halo": times(0.5)}, "halo over glibc", {HALO: times(0.5)}))
    assert found.answer is Answer.PLAN_HELPS
    assert "is placement-sensitive: with the plan 'halo' over glibc" in found.sentence
    assert "2.00 times as fast as the fastest allocator, glibc (95 % interval" in found.sentence


def test_the_gain_over_glibc_is_said_too() -> None:
    reference = {HALO: times(0.5), "jemalloc": times(0.8)}
    found = conclude(measured({"halo": times(0.5)}, "halo over glibc", reference))
    assert "1.60 times as fast as the fastest allocator, jemalloc" in found.sentence
    assert found.sentence.endswith(", and 2.00 times as fast as glibc.")


@pytest.mark.parametrize(
    ("factor", "around", "answer", "words"),
    [
        (1.25, STEADY, Answer.NO_GAIN, "prog loses"),
        (1.0, STEADY, Answer.NO_GAIN, "prog gains nothing"),
        (1.0, NOISE, Answer.CANNOT_TELL, "whether the plan 'halo' over glibc helps"),
    ],
)
def test_a_gain_that_does_not_carry_over(
    factor: float, around: Sequence[float], answer: Answer, words: str
) -> None:
    reference = {HALO: times(factor, around)}
    found = conclude(measured({"halo": times(0.5)}, "halo over glibc", reference))
    assert found.answer is answer
    assert words in found.sentence


def test_a_gain_within_a_wide_spread_is_not_believed() -> None:
    """All times vary by a fifth: the pairs agree by chance, the middle halves overlap."""
    spread = [1 + 0.04 * (number % 10) for number in range(11)]
    reference = {"glibc": times(1.05, spread), "jemalloc": times(2.0), HALO: times(1.0, spread)}
    found = conclude(measured({"halo": times(0.9)}, "halo over glibc", reference))
    assert found.answer is Answer.CANNOT_TELL
    apart = {**reference, HALO: times(0.5, spread)}
    clear = conclude(measured({"halo": times(0.9)}, "halo over glibc", apart))
    assert clear.answer is Answer.PLAN_HELPS


def test_a_plan_that_only_helps_a_slower_allocator() -> None:
    findings = measured({"halo": times(1.0)})
    findings.candidates = [
        *findings.candidates,
        Candidate(PlanVariant("none", "none"), JEMALLOC, None),
        Candidate(PlanVariant("dense", "dense"), JEMALLOC, Path("/r/dense.plan")),
    ]
    findings.race |= {"none over jemalloc": times(1.3), "dense over jemalloc": times(1.2)}
    found = conclude(findings)
    assert found.answer is Answer.NO_GAIN
    assert "placement-sensitive, but no plan is faster than glibc alone" in found.sentence


def test_plans_that_the_race_dropped_are_judged_by_their_later_rounds() -> None:
    """In the race they had three rounds; afterwards they ran beside the control again."""
    findings = measured({"halo": times(1.0), "dense": times(1.3)[:3]})
    assert [c.rounds for c in plan_changes(findings)] == [11, 3]
    assert all_within(plan_changes(findings)), "three rounds are not a ground to doubt"
    findings.checked = {"none over glibc": times(2.0), "dense over glibc": times(2.0)}
    assert conclude(findings).answer is Answer.NOT_SENSITIVE
    findings.checked = {"none over glibc": times(2.0), "dense over glibc": times(2.6)}
    assert conclude(findings).answer is Answer.CANNOT_TELL


def test_the_summary_has_the_same_sentence() -> None:
    findings = measured({"halo": times(1.0, NOISE)})
    found = conclude(findings)
    assert to_builtins(summarize_findings(findings).verdict) == {
        "answer": "cannot-be-told",
        "sentence": found.sentence,
        "needed": found.needed,
    }


def test_allocators_between_which_no_difference_shows_are_named() -> None:
    findings = Findings("prog", {}, MACHINE)
    findings.reference = {"glibc": times(1.0), "jemalloc": times(1.0, NOISE), "mimalloc": times(2)}
    found = conclude(findings)
    assert found.answer is Answer.ALLOCATORS_ONLY
    assert "glibc" in found.sentence and "jemalloc" in found.sentence
    assert "mimalloc" not in found.sentence


def test_more_trials_are_advised_the_wider_the_interval_is() -> None:
    few, more = (advice(Ratio(1.0, 1 - half, 1 + half), 11) for half in (0.03, 0.06))
    assert "--trials 30" in few and "--trials 100" in more
    assert "--trials" not in advice(Ratio(1.0, 0.5, 1.5), 11), "hundreds would hardly help"


def test_more_trials_are_also_more_rounds_of_the_race() -> None:
    """Otherwise the advice to repeat with more of them would change nothing."""
    assert final_rounds(20.0, 0) == 9
    assert final_rounds(20.0, 11) == 11
    assert final_rounds(10.0, 40) == 40
    assert final_rounds(5.0, 0) == 22
    assert final_rounds(0.1, 11) == 30
