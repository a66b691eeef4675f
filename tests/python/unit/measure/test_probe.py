"""A probe's answer, the next step that it recommends, and its summary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import to_builtins

from halo.binary.process.target import Target
from halo.measure.probe import RANDOM, SINGLE, Probe, ProbeAnswer, judge, rounds_within
from halo.measure.probe_report import conclusion, next_step, show_probe, summarize_probe
from halo.measure.runs.job import Job
from halo.measure.statistics import Ratio
from support.samples.probe import measured, samples

JOB = Job(Target(Path("/bin/prog"), "prog"), ("a b",))


@pytest.mark.parametrize(
    ("between", "changes", "answer"),
    [
        ((1.05, 1.20), [(1.1, 1.3), (1.0, 1.1)], ProbeAnswer.CARES),
        ((0.80, 0.97), [(1.1, 1.3), (1.0, 1.1)], ProbeAnswer.CARES),
        ((0.99, 1.01), [(0.8, 0.9), (0.8, 0.9)], ProbeAnswer.CARES),  # both gain: density
        ((0.99, 1.01), [(0.99, 1.01), (0.99, 1.01)], ProbeAnswer.DOES_NOT_CARE),
        (
            (0.99, 1.01),
            [(1.10, 1.20), (1.1, 1.2)],
            ProbeAnswer.DOES_NOT_CARE,
        ),  # the allocator's price
        ((0.90, 1.10), [(0.99, 1.01), (1.0, 1.0)], ProbeAnswer.CANNOT_TELL),
        ((1.01, 1.03), [(0.99, 1.01), (1.0, 1.0)], ProbeAnswer.CANNOT_TELL),
        ((0.99, 1.01), [(0.90, 1.10), (1.0, 1.0)], ProbeAnswer.CANNOT_TELL),
    ],
)
def test_the_answer_is_sure_or_not_given(
    between: tuple[float, float], changes: list[tuple[float, float]], answer: ProbeAnswer
) -> None:
    def middle(pair: tuple[float, float]) -> Ratio:
        return Ratio(sum(pair) / 2, *pair)

    assert judge(middle(between), [middle(change) for change in changes]) is answer


def test_conclusions_and_next_steps_are_plain() -> None:
    cares = measured(1.0, 1.5, 1.1)
    assert conclusion(cares, "prog") == (
        "prog is placement-sensitive: scattering its objects over 4 random pools, rather than one,"
        " makes it 36.4 % slower (95 % interval 36.4 to 36.4 %)."
    )
    assert next_step(cares, JOB, 60, "halo") == "halo run -- prog 'a b' -- prog 'a b'"
    gains = measured(1.0, 0.8, 0.7)
    assert "1 pool alone makes it 30.0 % faster (95 % interval" in conclusion(gains, "prog")
    indifferent = measured(1.0, 1.0, 1.0)
    assert "is not placement-sensitive" in conclusion(indifferent, "prog")
    plain = next_step(indifferent, JOB, 60, "halo")
    assert plain == "env LD_PRELOAD=/lib/libjemalloc.so.2 prog 'a b'"
    unsure = Probe(cares.best, cares.quick, {**indifferent.rounds, RANDOM: samples(0.5, 1.0, 1.5)})
    assert "not decided" in conclusion(unsure, "prog")
    assert next_step(unsure, JOB, 60, "halo") == "halo probe --seconds 240 -- prog 'a b'"


@pytest.mark.parametrize(
    ("small", "words"),
    [
        (0, "it allocates no objects of up to 4096 bytes, so there is nothing to place"),
        (4000, "its objects of up to 4096 bytes take 4000 bytes at most, which stay in the first"),
    ],
)
@pytest.mark.parametrize("drawn", [1.0, 1.5])
def test_without_small_objects_the_times_do_not_matter(
    drawn: float, small: int, words: str
) -> None:
    """They differ by the start of the runtime, or by the machine."""
    found = replace(measured(1.0, drawn, 1.0), small_bytes=small)
    assert found.answer is ProbeAnswer.DOES_NOT_CARE
    assert conclusion(found, "prog").startswith(f"prog is not placement-sensitive: {words}")
    assert next_step(found, JOB, 60, "halo") == "prog 'a b'"
    assert summarize_probe(found, JOB).small_bytes == small


def test_objects_that_may_be_on_many_lines_are_measured() -> None:
    """1,000 objects of 16 bytes may take 64 KB of a cache."""
    assert not replace(measured(1.0, 1.5, 1.0), small_bytes=16_000).has_little_to_place


def test_a_run_that_is_too_short_needs_no_more_rounds() -> None:
    rounds = {label: samples(0.001, 0.002, 0.003) for label in ("jemalloc", RANDOM, SINGLE)}
    found = replace(measured(1.0, 1.0, 1.0), rounds=rounds, small_bytes=10**6)
    assert found.answer is ProbeAnswer.CANNOT_TELL
    assert "mostly the start of the process" in conclusion(found, "prog")
    assert "of 50 ms at least" in conclusion(found, "prog")
    assert next_step(found, JOB, 60, "halo") == "halo probe -- prog LARGER-ARGS"
    much = replace(measured(1.0, 1.5, 1.0), small_bytes=10**6)
    assert much.answer is ProbeAnswer.CARES


def test_the_next_step_has_the_options_of_this_one() -> None:
    job = replace(JOB, stdin=Path("/i n"), allowed=frozenset({0, 3}), ignore_output=True)
    given = "--stdin '/i n' --allow-status 3 --ignore-output"
    assert next_step(measured(1.0, 1.5, 1.1), job, 60, "halo") == (
        f"halo run {given} -- prog 'a b' -- prog 'a b'"
    )
    pinned = next_step(measured(1.0, 1.5, 1.1), JOB, 60, "halo", cpu=1)
    assert pinned == "halo run --cpu 1 -- prog 'a b' -- prog 'a b'"
    plain = next_step(measured(1.0, 1.0, 1.0), job, 60, "halo")
    assert plain == "env LD_PRELOAD=/lib/libjemalloc.so.2 prog 'a b' <'/i n'"


def test_times_that_vary_much_show_no_indifference() -> None:
    """Rounds that are slow alike leave no difference, and are not evidence that there is none."""
    times = [1 + 0.1 * number for number in range(10)]
    rounds = {label: samples(*times) for label in ("jemalloc", RANDOM, SINGLE)}
    found = Probe(measured(1.0, 1.0, 1.0).best, {}, rounds)
    assert judge(found.between, found.changes.values()) is ProbeAnswer.DOES_NOT_CARE
    assert found.answer is ProbeAnswer.CANNOT_TELL
    (warning,) = summarize_probe(found, JOB).warnings
    assert "The times vary much" in warning and "1 pool (" in warning
    assert summarize_probe(measured(1.0, 1.5, 1.0), JOB).warnings == ()


def test_a_gain_that_a_few_rounds_lack_is_not_sure() -> None:
    """Times of an idle machine and of a busy one: the interval alone would be sure of a gain."""
    own, fast = (2 * samples(time) for time in (0.16, 0.12))
    drawn = fast[:8] + samples(0.17)[:2]
    quiet = measured(1.0, 1.0, 1.0)
    found = Probe(quiet.best, {}, {"jemalloc": own[:10], RANDOM: drawn, SINGLE: drawn})
    assert judge(found.between, found.changes.values()) is ProbeAnswer.CARES
    assert found.answer is ProbeAnswer.CANNOT_TELL
    assert "the rounds do not agree" in conclusion(found, "prog")
    sure = {**found.rounds, RANDOM: fast[:10]}
    assert Probe(quiet.best, {}, sure).answer is ProbeAnswer.CARES


def test_the_summary_has_every_documented_key() -> None:
    summary = json.loads(json.dumps(to_builtins(summarize_probe(measured(1.0, 1.5, 1.0), JOB))))
    assert set(summary) == {
        "program",
        "answer",
        "best_baseline",
        "allocators",
        "rounds",
        "between",
        "changes",
        "small_bytes",
        "outputs_compared",
        "warnings",
    }
    assert summary["answer"] == "cares"
    assert summary["changes"][RANDOM] == {"value": 0.5, "interval": [0.5, 0.5]}


def test_a_budget_holds_whole_rounds() -> None:
    assert rounds_within(10.0, 3.0) == 3
    assert rounds_within(-5.0, 3.0) == 0
    assert rounds_within(1.0, 0.0) == 100


def test_a_wide_spread_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    quiet, wide = measured(1.0, 1.5, 1.0), measured(1.0, 1.5, 1.0)
    wide.rounds[RANDOM][:] = samples(1.0, 1.5, 2.0)
    assert summarize_probe(quiet, JOB).warnings == ()
    (warning,) = summarize_probe(wide, JOB).warnings
    assert f"{RANDOM} (" in warning and "--seconds" in warning
    show_probe(wide, JOB, 60, "halo")
    assert warning in capsys.readouterr().out
