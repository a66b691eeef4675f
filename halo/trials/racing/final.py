"""The final of a race: goes on, round by round, until a sequential test decides."""

from __future__ import annotations

from collections.abc import Sequence

from halo.trials.racing.heats import SCREEN, Heat, Measure
from halo.trials.racing.sequential import BOUNDS, FIRST_LOOK, LAST_BOUNDS, LAST_LOOK
from halo.trials.racing.verdict import MIN_GAIN, Comparison, Verdict, judge
from halo.trials.runs.rounds import Samples

FEW_ROUNDS = 3  # before the first challenger may leave
FINALISTS = {FIRST_LOOK: 2, FIRST_LOOK + 4: 1}  # challengers that may stay after these rounds


def run_final(
    measure: Measure, screen: Comparison, challengers: Sequence[str], rounds: int
) -> tuple[Samples, Verdict]:
    """Runs at most that number of rounds of the screen's controls and of the challengers.

    Labels that leave give their runs to further rounds, up to LAST_LOOK.
    """
    controls, running = screen.controls, list(challengers)
    final: Samples = {label: [] for label in (*controls, *running)}
    known, compared = screen, Comparison(final, controls, screen.clock)
    budget, bounds = rounds * len(final), BOUNDS
    for done in range(max(rounds, LAST_LOOK)):
        labels = [*controls, *running]
        most = max(rounds, min(LAST_LOOK, done + budget // len(labels)))
        end = most if done >= FIRST_LOOK else min(most, FIRST_LOOK)
        heat = Heat(len(SCREEN) + done, 1, runs_left(known, running, done, end))
        for label, trials in measure(labels, heat).items():
            final[label].extend(trials)
        budget -= len(labels)
        if done + 1 == most:
            bounds = LAST_BOUNDS
            break
        if done + 1 < FEW_ROUNDS or done + 1 > LAST_LOOK:
            continue  # after LAST_LOOK, the last round decides
        running = _still_open(compared, running)
        running = _fewer(compared, running)
        known = compared
        if done + 1 >= FIRST_LOOK and (
            not running or compared.is_certain(compared.fastest(running))
        ):
            break
    return final, judge(final, controls, screen.clock, bounds)


def runs_left(known: Comparison, running: Sequence[str], done: int, most: int) -> int:
    """The expected number of runs that are left of a stage, at least those of one round.

    `known` has trials of the screen, or of the final. Of its rounds, `done` are done, and at the
    end of the stage at most `most`.
    """
    controls = len(known.controls)
    challengers = [label for label in running if known.samples.get(label)]
    if not challengers:
        return max(1, FIRST_LOOK - done) * (controls + len(running))
    leader = known.fastest(challengers)
    end = known.gain(leader).expected_rounds(MIN_GAIN, most)
    left = [max(1, end - done)] * (controls + len(running) - len(challengers))
    for label in challengers:
        leaves = known.gain(label).rounds_to_fall_short(MIN_GAIN, end)
        if label != leader:
            behind = known.gain(label, [leader])
            leaves = min(leaves, behind.rounds_to_fall_short(1.0, end))
        left.append(max(1, max(leaves, FEW_ROUNDS) - done))
    return sum(left)


def _still_open(compared: Comparison, running: Sequence[str]) -> list[str]:
    """The challengers that may still gain MIN_GAIN, and be the fastest."""
    if not running:
        return []
    leader = compared.fastest(running)
    return [
        label
        for label in running
        if compared.may_gain(label)
        and (label == leader or not compared.gain(label, [leader]).falls_short(1.0))
    ]


def _fewer(compared: Comparison, running: Sequence[str]) -> list[str]:
    """The fastest challengers, as many as FINALISTS allows after that number of rounds."""
    first = compared.controls[:1]
    rounds = len(compared.samples[first[0]])
    allowed = min((n for since, n in FINALISTS.items() if rounds >= since), default=len(running))
    return sorted(running, key=lambda label: -compared.gain(label, first).mean)[:allowed]
