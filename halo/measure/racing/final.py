"""The final of a race: goes on, stage by stage, until a sequential test decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from halo.measure.racing.heats import HEATS, Heat, Measure
from halo.measure.racing.sequential import (
    FIRST_LOOK,
    LAST_BOUNDS,
    LAST_LOOK,
    LOOKS,
    STAGED_BOUNDS,
    Gain,
)
from halo.measure.racing.verdict import MIN_GAIN, RaceComparison, RaceVerdict, judge
from halo.measure.runs.rounds import Samples

FEW_ROUNDS = 3  # before the first challenger may leave
FEW_COMPARED = 5  # with those of the screen: fewer give a poor estimate of the error
STAYING = {FIRST_LOOK: 2, LOOKS[2]: 1}  # challengers that may stay after these rounds


def run_final(
    measure: Measure,
    screen: RaceComparison,
    challengers: Sequence[str],
    rounds: int,
    cooled: Collection[str] = (),
) -> tuple[Samples, RaceVerdict]:
    """Runs at most that number of rounds, at least FIRST_LOOK, of the controls and challengers.

    Labels that leave give their runs to further rounds, up to LAST_LOOK. The rounds of the screen
    count for who leaves, and not for what is certain: they chose the challengers.

    `cooled`: labels whose trials have cool-downs, which those of the screen had not. Their rounds
    of the screen do not count, and a final that they stay in has no further rounds.
    """
    controls, running = screen.controls, list(challengers)
    final: Samples = {label: [] for label in (*controls, *running)}
    compared = RaceComparison(final, controls, screen.clock)
    earlier = {label: trials for label, trials in screen.samples.items() if label not in cooled}
    known = RaceComparison(final, controls, screen.clock, earlier)
    budget = rounds * len(final)
    for done in range(FIRST_LOOK):
        if done >= FEW_ROUNDS:
            running = _still_open(known, running)
        heat = Heat(HEATS + done, 1, _runs_left(known, running, done))
        budget -= _run(measure, [*controls, *running], heat, final)
    done, number = FIRST_LOOK, HEATS + FIRST_LOOK
    is_last = rounds <= done
    while not is_last:
        running = _fewer(compared, _still_open(known, running))
        if not running or compared.is_certain(compared.fastest(running), STAGED_BOUNDS):
            return final, judge(final, controls, screen.clock, STAGED_BOUNDS)
        labels = [*controls, *running]
        further = 0 if set(cooled) & set(running) else budget // len(labels)
        most = max(rounds, min(LAST_LOOK, done + further))
        end = _next_look(done, most)
        heat = Heat(number, end - done, (end - done) * len(labels))
        budget -= _run(measure, labels, heat, final)
        done, number, is_last = end, number + 1, end == most
    return final, judge(final, controls, screen.clock, LAST_BOUNDS)


def _run(measure: Measure, labels: Sequence[str], heat: Heat, final: Samples) -> int:
    """Adds the trials of a heat to those of the final; returns the number of runs."""
    for label, trials in measure(labels, heat).items():
        final[label].extend(trials)
    return heat.rounds * len(labels)


def _next_look(done: int, most: int) -> int:
    """The number of rounds after the next stage. It is a single one only if `most` is 8."""
    look = next((look for look in LOOKS if look > done), most)
    return look if look < most - 1 else most


def _runs_left(known: RaceComparison, running: Sequence[str], done: int) -> int:
    """The expected number of runs until the first look, at least those of one round.

    `known` has the trials of the screen, and of the `done` rounds of the final. The screen flatters
    those that it chose. Challengers behind the leader are expected to leave halfway between the
    first opportunity and the round that their gains predict.
    """
    rounds, fewest = FIRST_LOOK - done, max(1, FEW_ROUNDS - done)
    gains = {label: known.gain(label, known.controls[:1]) for label in running}
    challengers = [label for label in running if gains[label].rounds >= FEW_COMPARED]
    left = [rounds] * (len(known.controls) + len(running) - len(challengers))
    leader = max(challengers, key=lambda label: gains[label].mean, default="")
    for label in challengers:
        leaves = _rounds_to_leave(known.gain(label), MIN_GAIN, rounds)
        if label != leader:
            leaves = min(leaves, _rounds_to_leave(known.gain(label, [leader]), 1.0, rounds))
            leaves = (max(leaves, fewest) + fewest) // 2
        left.append(max(leaves, fewest))
    return sum(left)


def _rounds_to_leave(gain: Gain, ratio: float, maximum: int) -> int:
    """The number of further rounds after which the gain falls short, if it stays as it is."""
    return gain.rounds_to_fall_short(ratio, gain.rounds + maximum) - gain.rounds


def _still_open(compared: RaceComparison, running: Sequence[str]) -> list[str]:
    """The challengers that may still gain MIN_GAIN, and be the fastest, or had few rounds."""
    if not running:
        return []
    leader = compared.fastest(running)

    def falls_short(gain: Gain, ratio: float) -> bool:
        return gain.rounds >= FEW_COMPARED and gain.falls_short(ratio)

    def is_open(label: str) -> bool:
        behind = label != leader and falls_short(compared.gain(label, [leader]), 1.0)
        return not behind and not falls_short(compared.gain(label), MIN_GAIN)

    return list(filter(is_open, running))


def _fewer(compared: RaceComparison, running: Sequence[str]) -> list[str]:
    """The fastest challengers, as many as STAYING allows after that number of rounds."""
    first = compared.controls[:1]
    rounds = len(compared.samples[first[0]])
    allowed = min((n for since, n in STAYING.items() if rounds >= since), default=len(running))
    return sorted(running, key=lambda label: -compared.gain(label, first).mean)[:allowed]
