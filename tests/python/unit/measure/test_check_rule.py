"""The stopping rule of `halo check`: its error rates, and when it ends."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import pytest

from halo.base.schema.trial import Trial
from halo.binary.process.allocators import Allocator
from halo.binary.process.target import Target
from halo.measure.checks.check import (
    CheckAnswer,
    CheckBudget,
    PlanCheck,
    needed_rounds,
    run_rounds,
    speedups,
)
from halo.measure.checks.clock import Clock, chosen_clock, seconds
from halo.measure.checks.report import next_step
from halo.measure.checks.sequential import (
    ERROR,
    Side,
    evidence,
    interval,
    is_sure,
    minimum_values,
    side_of,
)
from halo.measure.runs.job import Job
from halo.measure.runs.rounds import Samples

ROUNDS = 200


def chance_of_a_false_answer(rounds: int) -> Fraction:
    """Exactly: the probability that fair signs are ever sure evidence within those rounds."""
    going = {0: Fraction(1)}
    sure = Fraction(0)
    for count in range(1, rounds + 1):
        after: dict[int, Fraction] = {}
        for above, chance in going.items():
            for more in (0, 1):
                after[above + more] = after.get(above + more, Fraction(0)) + chance / 2
        sure += sum((p for k, p in after.items() if is_sure(k, count)), Fraction(0))
        going = {k: p for k, p in after.items() if not is_sure(k, count)}
    return sure


def test_a_median_at_the_threshold_is_seldom_taken_for_one_beyond_it() -> None:
    chance = chance_of_a_false_answer(ROUNDS)
    assert Fraction(1, 200) < chance <= ERROR


NOISES: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda it: it.gauss(0, 0.05),
    "heavy tails": lambda it: 0.02 * it.gauss(0, 1) / max(abs(it.gauss(0, 1)), 1e-9),
    "skewed": lambda it: 0.1 * (math.log(2) - it.expovariate(1)),  # median 0
    "outliers": lambda it: it.gauss(0, 0.01) + (it.random() < 0.1) * it.choice((-1, 1)),
}


def decided(
    log_speedup: float, noise: Callable[[random.Random], float], seed: int, rounds: int
) -> tuple[Side, int]:
    """The first sure answer within the rounds, for a threshold of 1.05, and the rounds it took."""
    generator, ratios = random.Random(seed), []
    for count in range(1, rounds + 1):
        ratios.append(log_speedup + noise(generator))
        side = side_of(ratios, math.log(1.05))
        if side is not Side.UNKNOWN:
            return side, count
    return Side.UNKNOWN, rounds


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("wrong", [Side.NOT_BELOW, Side.BELOW])
def test_false_answers_are_as_rare_as_stated(
    noise: Callable[[random.Random], float], wrong: Side
) -> None:
    """Just beyond the threshold, where errors are the most frequent; 600 series of 60 rounds."""
    beyond = 1e-9 if wrong is Side.BELOW else -1e-9
    series = [decided(math.log(1.05) + beyond, noise, seed, 60)[0] for seed in range(600)]
    share = series.count(wrong) / len(series)
    assert share <= float(ERROR) + 3 * math.sqrt(float(ERROR) * (1 - float(ERROR)) / len(series))


@pytest.mark.parametrize(
    ("speedup", "answer"), [(1.0, Side.BELOW), (1.15, Side.NOT_BELOW), (0.9, Side.BELOW)]
)
def test_clear_answers_take_few_rounds(speedup: float, answer: Side) -> None:
    series = [decided(math.log(speedup), NOISES["outliers"], seed, 60) for seed in range(200)]
    assert [side for side, _ in series].count(answer) >= 198
    assert sorted(count for _, count in series)[100] <= 12


def test_the_evidence_is_the_mixture() -> None:
    """The same integral by the midpoint rule."""
    places = [0.5 + (at + 0.5) / 40_000 for at in range(20_000)]
    for above, count in ((0, 1), (3, 4), (8, 8), (7, 20)):
        ratios = [p**above * (1 - p) ** (count - above) * 2.0**count for p in places]
        assert float(evidence(above, count)) == pytest.approx(fmean(ratios), rel=1e-6)
    with pytest.raises(ValueError, match="5 of 4"):
        evidence(5, 4)


def test_the_interval_and_the_answer_agree() -> None:
    generator = random.Random(7)
    ratios = [generator.gauss(1.1, 0.05) for _ in range(30)]
    found = interval(ratios)
    assert found.low < sorted(ratios)[15] < found.high
    for threshold in (0.9, found.low - 1e-9, 1.1, found.high + 1e-9, 1.3):
        side = side_of(ratios, threshold)
        assert (side is Side.NOT_BELOW) == (threshold < found.low)
        assert (side is Side.BELOW) == (threshold > found.high)
    assert interval(ratios[:7]).low == -math.inf
    assert minimum_values() == 8


class Machine:
    """A clock that rounds advance, and runs with the given times."""

    def __init__(self, planned: float, alone: float) -> None:
        self.now = 0.0
        self.rounds = 0
        self.times = (planned, alone)

    def run(self, number: int, rounds: int) -> Samples:
        assert number == self.rounds < rounds
        self.rounds += 1
        self.now += sum(self.times)
        planned, alone = (Trial(it, it / 2, 0.0, 0) for it in self.times)
        return {"planned": [planned], "alone": [alone]}


def rounds_of(machine: Machine, min_speedup: float, budget: float, warm_up: float) -> Samples:
    limit = CheckBudget(0.0, budget, warm_up, lambda: machine.now)
    return run_rounds(machine.run, ("planned", "alone"), limit, min_speedup, Clock.WALL)


def test_it_ends_as_soon_as_the_answer_is_sure() -> None:
    samples = rounds_of(Machine(1.0, 1.3), 1.05, budget=50, warm_up=2.3)
    assert len(samples["planned"]) == len(samples["alone"]) == 8


def test_it_ends_before_the_budget_if_nothing_is_sure() -> None:
    machine = Machine(1.0, 1.05)
    samples = rounds_of(machine, 1.05, budget=50, warm_up=2.05)
    assert len(samples["planned"]) == 24 and machine.now <= 50


def test_too_small_a_budget_decides_nothing() -> None:
    machine = Machine(4.0, 8.0)
    assert len(rounds_of(machine, 1.05, budget=50, warm_up=12.0)["planned"]) == 4
    assert rounds_of(Machine(4.0, 8.0), 1.05, 11, 12.0) == {"planned": [], "alone": []}


def check_of(planned: float, alone: float, rounds: int, min_speedup: float) -> PlanCheck:
    trials, own = ([Trial(it, it, 0.0, 0)] * rounds for it in (planned, alone))
    glibc = Allocator("glibc", None)
    return PlanCheck(glibc, min_speedup, Clock.WALL, trials, own, 50.0, planned + alone)


@pytest.mark.parametrize(
    ("alone", "answer"),
    [(1.3, CheckAnswer.HELPS), (1.0, CheckAnswer.DOES_NOT_HELP), (1.05, CheckAnswer.CANNOT_TELL)],
)
def test_the_answers(alone: float, answer: CheckAnswer) -> None:
    assert check_of(1.0, alone, 10, 1.05).answer is answer


def test_a_longer_budget_is_advised_only_if_it_may_help() -> None:
    assert check_of(1.0, 1.3, 4, 1.05).needed_seconds == 80  # 8 rounds after 40.8 s
    assert check_of(1.0, 1.05, 20, 1.05).needed_seconds is None
    assert needed_rounds([1.1, 1.1, 1.1, 1.0], 1.05) == 39
    assert needed_rounds([], 1.05) == 8


def test_long_checks_need_no_time_of_their_own() -> None:
    """Half of the rounds above the threshold: no budget is ever enough, and all are tried."""
    start = time.monotonic()
    assert needed_rounds([1.1, 1.0] * 12, 1.05) is None
    ratios = [1.0 + at / 1000 for at in range(1000)]
    assert side_of(ratios, 1.5) is Side.UNKNOWN
    assert interval(ratios).low < 1.5 < interval(ratios).high
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("count", [1, 7, 8, 31])
def test_the_ends_of_the_interval_are_the_first_that_are_sure(count: int) -> None:
    values = [float(at) for at in range(count)]
    sure = [above for above in range(count + 1) if is_sure(above, count)]
    found = interval(values)
    assert found.low == (values[count - sure[0]] if sure else -math.inf)
    assert found.high == (values[sure[0] - 1] if sure else math.inf)


def test_the_next_step_has_the_library_and_the_processor() -> None:
    found = replace(check_of(1.0, 1.3, 4, 1.05), allocator=Allocator("l.so", Path("/o p/l.so")))
    job = Job(Target(Path("/bin/prog"), "prog"), ("1",))
    step = next_step(found, job, Path("p"), "halo", 30, 1)
    start = "halo check --plan p --allocator '/o p/l.so' --min-speedup 1.05 --clock wall"
    assert step == f"{start} --seconds 80 --cpu 1 -- prog 1"
    unknown = replace(check_of(1.0, 1.05, 20, 1.05), allocator=found.allocator)
    step = next_step(unknown, job, Path("p"), "halo", 30, 1)
    assert step == f"{start} --seconds 30 --cpu 1 -- prog 1"


def test_a_clock_that_is_too_coarse_shows_no_difference() -> None:
    assert speedups([0.0, 1.0, 0.0], [0.0, 2.0, 1.0]) == [1.0, 2.0, math.inf]


def trial(wall: float, user: float, main: float, delayed: float) -> Trial:
    return Trial(wall, user, 0.1, 0, main_processor=main, delayed=delayed)


@pytest.mark.parametrize(
    ("found", "clock"),
    [
        (trial(1.02, 0.9, 1.0, 0.0), Clock.PROCESSOR),
        (trial(3.00, 0.9, 1.0, 1.99), Clock.PROCESSOR),  # others used the processor
        (trial(1.50, 0.9, 1.0, 0.0), Clock.WALL),  # it waited
        (trial(1.00, 1.9, 1.0, 0.0), Clock.WALL),  # another thread worked, too
        (trial(1.00, 0.9, 0.0, 0.0), Clock.WALL),  # unknown
    ],
)
def test_the_clock_of_a_program(found: Trial, clock: Clock) -> None:
    computes = trial(1.0, 0.9, 1.0, 0.0)
    assert chosen_clock(Clock.AUTO, [computes, found]) is clock
    assert chosen_clock(Clock.WALL, [computes, computes]) is Clock.WALL
    assert chosen_clock(Clock.AUTO, []) is Clock.WALL
    assert seconds([found], Clock.PROCESSOR) == [found.user + 0.1]
