"""Which candidate is kept: the fastest, but `none` unless the gain is certain."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import accumulate

import msgspec
import pytest

from halo.base.schema.trial import Runtime, Trial
from halo.measure.racing.clock import deciding_clock, processor, wall
from halo.measure.racing.field import Arms
from halo.measure.racing.final import FEW_COMPARED, run_final
from halo.measure.racing.heats import HEATS, Heat, Measure
from halo.measure.racing.race import Pace, pace_for, race, screen_runs
from halo.measure.racing.sequential import BOUNDS, FIRST_LOOK, LAST_LOOK, LOOKS, Gain, paired_gain
from halo.measure.racing.verdict import MIN_GAIN, RaceComparison, judge
from halo.measure.runs.rounds import Samples
from support.samples.noise import Noise, disturbed, quiet

RELAXED = Pace(final_runs=10**6)
SCREEN = RELAXED.screen


class Rounds(Pace):
    """A pace whose final has that many rounds, however many labels it has."""

    def __init__(self, rounds: int) -> None:
        super().__init__(final_runs=1)
        object.__setattr__(self, "rounds", rounds)

    def final_rounds(self, labels: int) -> int:
        return self.rounds  # type: ignore[attr-defined, no-any-return]


def samples(times: Sequence[float]) -> list[Trial]:
    return [Trial(time, time, 0.0, 1) for time in times]


def steady(_: random.Random) -> float:
    return 1.0


class Machine:
    """Measures candidates whose true times are known, and logs the heats."""

    def __init__(self, true_times: dict[str, float], noise: Noise = quiet, seed: int = 7) -> None:
        self._times, self._noise = true_times, noise
        self._rng = random.Random(seed)
        self.heats: list[tuple[list[str], Heat]] = []

    def __call__(self, labels: Sequence[str], heat: Heat) -> Samples:
        self.heats.append((list(labels), heat))
        return {
            label: samples(
                [self._times[label] * self._noise(self._rng) for _ in range(heat.rounds)]
            )
            for label in labels
        }

    @property
    def final(self) -> list[list[str]]:
        return [labels for labels, heat in self.heats if heat.final]


def with_slices(machine: Machine, in_slices: bool = True) -> Measure:
    """The machine, whose rounds have time slices."""

    def measure(labels: Sequence[str], heat: Heat) -> Samples:
        return {
            label: [msgspec.structs.replace(it, in_slices=in_slices) for it in found]
            for label, found in machine(labels, heat).items()
        }

    return measure


def kept(measure: Measure, field: Arms, rounds: int = LAST_LOOK) -> str:
    return race(measure, field, Rounds(rounds)).verdict.kept


def field(times: dict[str, float], **more: Sequence[str]) -> Arms:
    controls = [label for label in times if label.startswith("none")]
    return Arms(controls, [label for label in times if label not in controls], **more)  # type: ignore[arg-type]


SPREAD = {"none": 1.0, "a": 0.7, "b": 0.9, "c": 1.2, "d": 1.5, "e": 1.1, "f": 1.3}


def test_a_clear_winner_is_kept_after_the_first_look() -> None:
    machine = Machine(SPREAD)
    raced = race(machine, field(SPREAD), Rounds(LAST_LOOK))
    assert raced.verdict.kept == raced.verdict.fastest == "a"
    assert raced.verdict.rounds == len(machine.final) == FIRST_LOOK


def test_slow_candidates_leave_early_and_the_control_stays() -> None:
    times = {"none": 9.0} | {f"c{number}": 1.0 + 0.02 * number for number in range(8)} | {"x": 5.0}
    machine = Machine(times, steady)
    race(machine, field(times), Rounds(LAST_LOOK))
    screen = [labels for labels, heat in machine.heats if not heat.final]
    assert [len(labels) for labels in screen] == [10, 9, 6]
    assert "x" not in screen[1]
    assert all("none" in labels for labels, _ in machine.heats)


@pytest.mark.parametrize("hopeless", [0, 5, 8])
def test_the_screen_states_about_the_runs_that_it_takes(hopeless: int) -> None:
    slow = [1.0 + 0.01 * number + (number >= 9 - hopeless) for number in range(9)]
    times = {"none": 1.0} | {f"c{number}": time for number, time in enumerate(slow)}
    machine = Machine(times, steady)
    race(machine, field(times), Rounds(7))
    screen = [(labels, heat) for labels, heat in machine.heats if not heat.final]
    left = [len(labels) * heat.rounds for labels, heat in screen]
    assert sum(heat.rounds for _, heat in screen) == sum(SCREEN)
    assert screen[0][1].runs == screen_runs(field(times), RELAXED)
    assert sum(left) / 1.2 <= screen[0][1].runs <= sum(left) * 1.2
    assert screen[1][1].runs in range(sum(left[1:]), 1 + round(1.2 * sum(left[1:])))
    assert screen[2][1].runs == left[2]


def test_the_final_expects_about_the_runs_that_it_takes() -> None:
    times = {"none": 1.0, "a": 0.9, "b": 0.97}
    machine = Machine(times)
    race(machine, field(times), Rounds(LAST_LOOK))
    final = [(len(labels), heat.runs) for labels, heat in machine.heats if heat.final]
    for at, (_, expected) in enumerate(final):
        left = sum(count for count, _ in final[at:])
        assert left / 1.5 <= expected <= left * 1.5


def test_the_length_of_every_stage_of_the_final_is_known_at_its_start() -> None:
    times = {"none": 1.0, "a": 0.985, "b": 0.985}
    machine = Machine(times, lambda rng: rng.gauss(1, 0.03), seed=1)
    raced = race(machine, field(times), Rounds(LAST_LOOK))
    final = [(labels, heat) for labels, heat in machine.heats if heat.final]
    first, further = final[:FIRST_LOOK], final[FIRST_LOOK:]
    assert len(further) > 2
    assert [heat.extends_final for _, heat in final] == [False] * len(first) + [True] * len(further)
    taken = sum(len(labels) for labels, _ in first)
    assert taken / 1.5 <= first[0][1].runs <= taken * 1.5
    assert all(heat.runs == heat.rounds * len(labels) for labels, heat in further)
    ends = list(accumulate(heat.rounds for _, heat in further[:-1]))
    assert [FIRST_LOOK + end for end in ends] == list(LOOKS[1 : len(further)])
    assert raced.verdict.rounds == FIRST_LOOK + sum(heat.rounds for _, heat in further)


@pytest.mark.parametrize("rounds", [*range(FIRST_LOOK + 1, LAST_LOOK + 1), LAST_LOOK + 20])
def test_a_final_runs_the_rounds_that_it_may_and_no_stage_of_one(rounds: int) -> None:
    times = {"none": 1.0, "a": 1 / MIN_GAIN}
    machine = Machine(times, lambda rng: rng.gauss(1, 0.001), seed=2)
    raced = race(machine, field(times), Rounds(rounds))
    further = [heat.rounds for _, heat in machine.heats if heat.extends_final]
    assert raced.verdict.rounds == FIRST_LOOK + sum(further) == rounds
    assert min(further) > 1 or rounds == FIRST_LOOK + 1


def test_without_hope_there_is_no_final() -> None:
    times = {"none": 1.0, "a": 1.1, "b": 1.2, "c": 1.3}
    machine = Machine(times, steady)
    raced = race(machine, field(times), Rounds(LAST_LOOK))
    assert raced.verdict.kept == "none"
    assert raced.final == {}
    assert machine.final == []


def test_every_control_stays_to_the_end() -> None:
    """A plan must be compared with the very allocator that it forwards to."""
    times = {"none over x": 1.0, "none over y": 1.01, "a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}
    machine = Machine(times)
    kept(machine, field(times))
    assert machine.final
    assert all({"none over x", "none over y"} <= set(labels) for labels, _ in machine.heats)


def test_one_finalist_uses_huge_pages_and_the_others_do_not() -> None:
    """Each trial with huge pages has a cool-down, and only with it their cost is visible."""
    times = {"none": 1.0, "h1": 0.5, "h2": 0.55, "h3": 0.57, "s1": 0.52, "s2": 0.56}
    machine = Machine(times, steady)
    race(machine, field(times, huge_page_users=["h1", "h2", "h3"]), Rounds(LAST_LOOK))
    assert machine.final[0] == ["none", "h1", "s1", "s2"]


def test_the_twin_of_the_first_plan_enters_the_final() -> None:
    times = {"none over x": 1.0, "none over y": 1.0, "a over x": 0.8, "a over y": 0.7}
    twins = Arms(["none over x", "none over y"], ["a over x"], {"a over x": "a over y"})
    machine = Machine(times)
    assert kept(machine, twins) == "a over y"
    assert all("a over y" not in labels for labels, heat in machine.heats if not heat.final)


def test_a_gain_of_a_few_per_cent_is_found_in_spite_of_long_runs_in_between() -> None:
    times = {"none": 1.0, "a": 0.95, "b": 1.0}
    found = [kept(Machine(times, disturbed, seed), field(times)) for seed in range(200)]
    assert found.count("a") >= 180


def test_a_gain_of_twelve_per_cent_is_found_on_a_machine_that_others_use() -> None:
    times = {"none": 1.0, "a": 1 / 1.12, "b": 1 / 1.08}
    times |= {f"c{number}": 1.0 + 0.01 * number for number in range(8)}
    noise: Noise = lambda rng: rng.gauss(1, 0.05) * (1.15 if rng.random() < 0.4 else 1)  # noqa: E731
    found = [kept(Machine(times, noise, seed), field(times), 30) for seed in range(40)]
    assert len(found) - found.count("none") >= 36


@pytest.mark.parametrize("noise", [quiet, disturbed])
def test_noise_alone_keeps_none(noise: Noise) -> None:
    """All are equally fast: someone leads by chance, and must not win by it."""
    times = {"none": 1.0} | {f"c{number}": 1.0 for number in range(8)}
    found = [kept(Machine(times, noise, seed), field(times)) for seed in range(100)]
    assert found.count("none") >= 99


@pytest.mark.parametrize(("time", "label"), [(0.995, "none"), (0.95, "a"), (1.05, "none")])
def test_a_gain_under_one_per_cent_is_not_worth_a_plan(time: float, label: str) -> None:
    finalists = {"none": samples([1.0] * 11), "a": samples([time] * 11)}
    assert judge(finalists, ["none"]).kept == label


def test_the_best_of_several_controls_is_the_one_to_beat() -> None:
    finalists = {
        "none over x": samples([1.0] * 7),
        "none over y": samples([0.9] * 7),
        "a": samples([0.95] * 7),
    }
    assert judge(finalists, ["none over x", "none over y"]).kept == "none over y"


def test_times_are_compared_within_their_round() -> None:
    """The machine gets slower and slower; x has the lesser median but loses most rounds."""
    finalists = {
        "none over x": samples([1.0, 1.2, 1.40, 1.6, 1.8]),
        "none over y": samples([0.9, 1.1, 1.45, 1.5, 1.7]),
    }
    assert judge(finalists, list(finalists)).kept == "none over y"


def test_fewer_rounds_than_the_first_look_keep_nothing() -> None:
    few = {"none": samples([1.0] * (FIRST_LOOK - 1)), "a": samples([0.5] * (FIRST_LOOK - 1))}
    assert judge(few, ["none"]).kept == "none"


def test_a_noisy_plan_does_not_hide_one_that_is_certain() -> None:
    """Times of a real final: the two plans are equally fast, and the gain of one is certain."""
    finalists = {
        "none": samples([1.45, 0.98, 1.22, 0.97, 0.98, 1.44, 1.12, 0.92]),
        "steady": samples([0.71, 0.70, 0.94, 0.63, 0.70, 0.86, 0.74, 0.66]),
        "noisy": samples([0.81, 0.84, 0.71, 0.66, 0.95, 0.76, 0.82, 0.58]),
    }
    found = judge(finalists, ["none"], bounds=BOUNDS)
    assert (found.fastest, found.kept) == ("noisy", "steady")


def test_an_outlier_neither_makes_nor_hides_a_gain() -> None:
    none = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0]
    mine = [0.91, 0.9, 0.9, 3.0, 0.91, 0.9, 0.9]
    gain = paired_gain(none, mine)
    assert gain.exceeds(1.01)
    assert not paired_gain([3.0, *none[1:]], none).exceeds(1.0)


def test_processor_time_decides_if_the_program_waits_only_for_the_processor() -> None:
    alone = Trial(2.0, 0.9, 0.1, 1, main_processor=1.0, delayed=0.98)
    waits = Trial(2.0, 0.9, 0.1, 1, main_processor=1.0, delayed=0.5)
    threads = Trial(1.0, 1.7, 0.1, 1, main_processor=0.9, delayed=0.1)
    assert deciding_clock([alone]) is processor
    assert deciding_clock([alone, alone, alone, waits]) is processor
    assert deciding_clock([alone, waits]) is wall
    late = Trial(2.0, 0.9, 0.1, 1, {"report_seconds": 1.5}, main_processor=1.0, delayed=0.98)
    assert processor(late) == wall(late), "it has no processor time of its own"
    assert deciding_clock([*[alone] * 9, late]) is wall
    assert deciding_clock([threads]) is wall
    assert deciding_clock([Trial(1.0, 0.9, 0.1, 1)]) is wall
    assert deciding_clock([]) is wall


def test_the_runtimes_report_is_not_in_processor_time() -> None:
    report: Runtime = {"active": True, "report_seconds": 0.2}
    planned = Trial(1.0, 0.9, 0.3, 1, report, main_processor=1.2, delayed=0.0)
    assert processor(planned) == pytest.approx(1.0)
    assert deciding_clock([planned]) is processor
    waits = Trial(1.2, 0.9, 0.3, 1, report, main_processor=1.2, delayed=0.0)
    assert deciding_clock([waits]) is wall, "the report hides no waiting"


def test_a_busy_machine_does_not_hide_a_gain_in_processor_time() -> None:
    rng = random.Random(3)

    def measure(labels: Sequence[str], heat: Heat) -> Samples:
        return {
            label: [
                busy(time * rng.gauss(1, 0.01), rng.uniform(0.5, 3)) for _ in range(heat.rounds)
            ]
            for label in labels
            for time in [{"none": 1.0, "a": 0.9}[label]]
        }

    def busy(time: float, delayed: float) -> Trial:
        return Trial(time + delayed, time, 0.0, 1, main_processor=time, delayed=delayed)

    assert kept(measure, Arms(["none"], ["a"])) == "a"


@pytest.mark.parametrize("mean", [-0.3, -0.02, 0.0, 0.009, 0.02])
@pytest.mark.parametrize("error", [0.001, 0.01, 0.2])
def test_the_rounds_until_a_gain_falls_short(mean: float, error: float) -> None:
    now = Gain(mean, error, 5)
    later = (Gain(mean, error * math.sqrt(5 / rounds), rounds) for rounds in range(2, 30))
    first = next((gain.rounds for gain in later if gain.falls_short(1.01)), 30)
    assert max(2, now.rounds_to_fall_short(1.01, 30)) == first


def test_the_rounds_of_the_screen_count_for_who_leaves_the_final() -> None:
    rng = random.Random(3)

    def measure(labels: Sequence[str], heat: Heat) -> Samples:
        unlucky = HEATS <= heat.number < HEATS + 3
        times = {"none": 1.0, "a": 1.03 if unlucky else 0.9}
        return {
            label: samples([times[label] * quiet(rng) for _ in range(heat.rounds)])
            for label in labels
        }

    assert kept(measure, Arms(["none"], ["a"])) == "a"


def test_the_screen_does_not_count_for_huge_pages_as_it_has_no_cool_downs() -> None:
    rng = random.Random(3)

    def measure(labels: Sequence[str], heat: Heat) -> Samples:
        times = {"none": 1.0, "h": 1.05 if heat.final else 0.8}
        return {
            label: samples([times[label] * quiet(rng) for _ in range(heat.rounds)])
            for label in labels
        }

    raced = race(measure, Arms(["none"], ["h"], huge_page_users=["h"]), Rounds(LAST_LOOK))
    assert raced.verdict.kept == "none"
    assert len(raced.final["h"]) == FEW_COMPARED


@pytest.mark.parametrize(("huge_page_users", "rounds"), [([], 57), (["a"], 30)])
def test_rounds_with_cool_downs_do_not_replace_others(
    huge_page_users: list[str], rounds: int
) -> None:
    """Three rounds of four labels leave 108 of 120 runs, for 54 rounds of two labels."""
    times = {"none": 1.0, "a": 1 / MIN_GAIN, "b": 1.15, "c": 1.15}
    machine = Machine(times, lambda rng: rng.gauss(1, 0.001), seed=2)
    challengers = ["a", "b", "c"]
    screened = {label: samples([times[label]] * sum(SCREEN)) for label in times}
    screen = RaceComparison(screened, ["none"], wall)
    _, verdict = run_final(machine, screen, challengers, 30, huge_page_users)
    assert verdict.rounds == rounds


def test_a_plan_that_the_screen_did_not_measure_stays_for_five_rounds() -> None:
    times = {"none": 1.0, "none over y": 1.0, "a": 0.9, "a over y": 1.3}
    machine = Machine(times)
    twins = {"a": "a over y"}
    raced = race(machine, Arms(["none", "none over y"], ["a"], twins), Rounds(LAST_LOOK))
    assert raced.verdict.kept == "a"
    assert len(raced.final["a over y"]) == FEW_COMPARED


def test_one_challenger_runs_the_last_rounds() -> None:
    times = {"none": 1.0} | {f"c{number}": 0.985 for number in range(5)}
    machine = Machine(times, lambda rng: rng.gauss(1, 0.05))
    race(machine, field(times), Rounds(LAST_LOOK))
    left = [len(labels) - 1 for labels, heat in machine.heats for _ in range(heat.rounds)]
    final = left[sum(SCREEN) :]
    assert max(final[FIRST_LOOK:]) == 2
    assert max(final[LOOKS[2] :]) == 1


def test_plans_that_leave_give_their_runs_to_further_rounds() -> None:
    times = {"none": 1.0} | {f"c{number}": 0.985 for number in range(5)}
    machine = Machine(times, lambda rng: rng.gauss(1, 0.05))
    raced = race(machine, field(times), Rounds(12))
    runs = sum(map(len, raced.final.values()))
    assert 12 < raced.verdict.rounds <= LAST_LOOK
    assert runs <= 12 * len(raced.final)


@pytest.mark.parametrize(("gain", "least", "most"), [(1.0, 0, 2), (1.06, 85, 100)])
def test_a_short_race_spends_its_error_at_the_last_look(gain: float, least: int, most: int) -> None:
    times = {"none": 1.0, "a": 1 / gain, "b": 1.0}
    noise: Noise = lambda rng: rng.gauss(1, 0.02)  # noqa: E731
    found = [kept(Machine(times, noise, seed), field(times), 9) for seed in range(100)]
    assert least <= sum(label != "none" for label in found) <= most


@pytest.mark.parametrize(
    ("runs", "screen", "has_final"),
    [
        (200, (2, 1, 2), True),
        (68, (2, 1, 2), True),
        (57, (1, 1, 2), True),
        (50, (1, 1, 3), False),
        (16, (1, 1, 1), False),
        (15, (1, 1, 0), False),
    ],
)
def test_a_race_is_as_long_as_there_is_time(
    runs: int, screen: tuple[int, int, int], has_final: bool
) -> None:
    """Of ten plans over one allocator."""
    found = pace_for(runs, Arms(["none"], [f"c{number}" for number in range(10)]))
    assert (found.screen, bool(found.final_runs)) == (screen, has_final)


@pytest.mark.parametrize(("runs", "has_final"), [(70, True), (10, False)])
def test_a_race_in_slices_has_a_short_screen(runs: int, has_final: bool) -> None:
    plans = Arms(["none"], [f"c{number}" for number in range(10)])
    found = pace_for(runs, plans, in_slices=True)
    assert (found.screen, bool(found.final_runs)) == ((1, 1, 0), has_final)


def test_without_time_for_a_final_the_leader_of_the_screen_is_kept() -> None:
    """Whether it gains is shown by the rounds of the answer."""
    brisk = Pace((1, 1, 1))
    machine = Machine(SPREAD)
    raced = race(machine, field(SPREAD), brisk)
    assert (raced.verdict.kept, raced.final, machine.final) == ("a", {}, [])
    slower = {"none": 1.0, "a": 1.02, "b": 1.03}
    assert race(Machine(slower, steady), field(slower), brisk).verdict.kept == "none"


def test_half_of_the_challengers_leave_a_hasty_race_after_one_round() -> None:
    times = {"none": 1.0, **{f"c{number}": 0.9 + number / 100 for number in range(9)}}
    machine = Machine(times, steady)
    raced = race(machine, field(times), Pace((1, 1, 0)))
    assert {label: len(found) for label, found in raced.screen.items()} == {
        **dict.fromkeys(["none", *(f"c{number}" for number in range(5))], 2),
        **dict.fromkeys((f"c{number}" for number in range(5, 9)), 1),
    }
    assert (raced.verdict.kept, raced.final) == ("c0", {})


@pytest.mark.parametrize(
    ("slower", "in_slices", "other", "heats"),
    [
        (1.06, True, 0.99, 1),
        (1.02, True, 0.99, 3),
        (1.06, False, 0.99, 3),
        (0.99, True, 0.90, 3),  # one round may say too much of the other allocator
    ],
)
def test_a_race_in_slices_ends_if_all_plans_lose_clearly_to_their_allocator(
    slower: float, in_slices: bool, other: float, heats: int
) -> None:
    times = {"none": 1.0, "other": other, "a": slower, "b": slower + 0.1}
    machine = Machine(times, steady)

    raced = race(
        with_slices(machine, in_slices), Arms(["none", "other"], ["a", "b"]), Pace((1, 1, 1), 100)
    )
    assert [heat.number for _, heat in machine.heats] == list(range(heats))
    assert (raced.verdict.kept, raced.final) == ("other", {})


@pytest.mark.parametrize(
    ("leader", "heats"),
    [
        (0.60, [["none", "other", "a", "b", "c", "d", "e"]]),  # all others are far behind
        (0.72, [["none", "other", "a", "b", "c", "d", "e"], ["none", "a", "b"]]),
        (0.97, [["none", "other", "a", "b", "c", "d", "e"], ["none", "other", "a"]]),
    ],
)
def test_only_near_plans_have_a_second_round_in_slices(
    leader: float, heats: list[list[str]]
) -> None:
    """And none has one if the only near one gains clearly over all allocators."""
    others = [0.73, 0.9, 1.0, 1.1] if leader < 0.9 else [1.03, 1.04, 1.05, 1.1]
    times = {"none": 1.0, "other": 0.99, "a": leader, **dict(zip("bcde", others, strict=True))}
    machine = Machine(times, steady)
    sliced = with_slices(machine)
    raced = race(sliced, Arms(["none", "other"], list("abcde")), Pace((1, 1, 0)))
    assert [labels for labels, _ in machine.heats] == heats
    assert raced.verdict.kept == "a" and raced.final == {}


def test_a_screen_in_slices_leaves_several_plans_for_a_final() -> None:
    """Huge pages cost more in a final, and a plan may lose on another input."""
    times = {"none": 1.0, "huge": 0.70, "a": 0.75, "b": 0.76, "c": 0.77}
    machine = Machine(times, steady)
    arms = Arms(["none"], ["huge", "a", "b", "c"], {}, ["huge"])
    raced = race(with_slices(machine), arms, Pace((1, 1, 0), 100))
    assert {"huge", "a"} <= set(raced.final)


def test_a_final_of_a_known_number_of_runs_has_fewer_rounds_of_more_labels() -> None:
    assert [Pace(final_runs=80).final_rounds(labels) for labels in (2, 4, 8, 20)] == [30, 20, 10, 7]
