"""Finds the fastest candidate in few runs, and keeps it only if its gain is certain.

Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification", AISTATS 2016)
chooses the finalists. The final then goes on, round by round, until a sequential test decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median

from halo.trials.racing.clock import Clock, deciding_clock
from halo.trials.racing.field import Field
from halo.trials.racing.sequential import (
    BOUNDS,
    FIRST_LOOK,
    LAST_BOUNDS,
    LAST_LOOK,
    Gain,
    paired_gain,
)
from halo.trials.runs.rounds import Samples
from halo.trials.statistics import Ratio

MIN_GAIN = 1.01  # less is noise on most machines and not worth a plan
SCREEN = (2, 1, 2)  # rounds of the heats that choose the finalists
HOPELESS = 1.15  # times slower than the best challenger: not in the second heat
MIN_LEFT = 4  # challengers in the second heat, if there are as many
FEW_ROUNDS = 3  # of the final, before the first challenger may leave it
FINALISTS = {FIRST_LOOK: 2, FIRST_LOOK + 4: 1}  # challengers that may stay after these rounds


@dataclass(frozen=True)
class Heat:
    """Rounds to measure, and the expected number of runs from here to the end of its stage.

    Heats are numbered from 0. Those of the final have one round each, and cool-downs of trials with
    huge pages. Its first FIRST_LOOK rounds are a stage, and those until the test decides another
    one: their number is not known before.
    """

    number: int
    rounds: int
    runs: int

    @property
    def final(self) -> bool:
        return self.number >= len(SCREEN)

    @property
    def opens_final(self) -> bool:
        return self.number == len(SCREEN)

    @property
    def extends_final(self) -> bool:
        """Whether it is the first one after the first look, which did not decide."""
        return self.number == len(SCREEN) + FIRST_LOOK


Measure = Callable[[Sequence[str], Heat], Samples]
"""Measures these labels for the rounds of the heat."""


@dataclass(frozen=True)
class Verdict:
    """The label kept, the fastest label, and the fastest one's gain over the best control.

    `rounds`: the number of rounds that decided.
    """

    kept: str
    fastest: str
    gain: Ratio | None
    rounds: int = 0


@dataclass(frozen=True)
class Raced:
    """All trials of a race: those of the screen, of the final, and the verdict.

    In each, the trials of a label are those of the first rounds: it may have left early.
    """

    screen: Samples
    final: Samples
    verdict: Verdict


def screen_runs(field: Field) -> int:
    """The runs of the screen, if no challenger leaves it early."""
    return _runs_left(field, 0, len(field.challengers))


def _runs_left(field: Field, number: int, running: int) -> int:
    """Of the screen, from that heat on, with that number of challengers running."""
    kept = min(running, _half(len(field.challengers)))
    challengers = [running, running, kept]
    return sum(
        rounds * (len(field.controls) + left)
        for rounds, left in list(zip(SCREEN, challengers, strict=True))[number:]
    )


def _half(challengers: int) -> int:
    return min(challengers, max(MIN_LEFT, (challengers + 1) // 2))


def race(measure: Measure, field: Field, max_rounds: Callable[[Samples], int]) -> Raced:
    """Runs the screen and the final.

    The controls (`none`, over each next allocator) stay to the end. `max_rounds` gives the rounds
    of the final from the trials of its labels in the screen. Without a challenger that may gain
    MIN_GAIN, there is no final.
    """
    screen: Samples = {label: [] for label in (*field.controls, *field.challengers)}
    running, done = list(field.challengers), 0
    for number, rounds in enumerate(SCREEN):
        heat = Heat(number, rounds, _runs_left(field, number, len(running)))
        _extend(screen, measure([*field.controls, *running], heat))
        done += rounds
        if number == 0:
            running = _with_hope(screen, running)
        elif number == 1:
            running = _ranked(screen, running)[: _half(len(field.challengers))]
    clock = deciding_clock(chain.from_iterable(screen.values()))
    hopeful = [
        label
        for label in _ranked(screen, running)
        if not _gain(screen, field.controls, label, clock).falls_short(MIN_GAIN)
    ]
    if not hopeful:
        control = _fastest(screen, field.controls, clock)
        fastest = _fastest(screen, [*field.controls, *running], clock)
        return Raced(screen, {}, Verdict(control, fastest, None, done))
    labels = field.finalists(hopeful)
    rounds = max_rounds({it: screen.get(it, []) for it in labels})
    final, verdict = _final(measure, field.controls, labels, clock, (screen, rounds))
    return Raced(screen, final, verdict)


def _final(
    measure: Measure,
    controls: Sequence[str],
    labels: Sequence[str],
    clock: Clock,
    limits: tuple[Samples, int],
) -> tuple[Samples, Verdict]:
    """Runs the final; `limits` are the trials of the screen, and the greatest number of rounds.

    Labels that leave give their runs to further rounds, up to LAST_LOOK.
    """
    final: Samples = {label: [] for label in labels}
    running = [label for label in labels if label not in controls]
    known, rounds = limits
    budget, bounds = rounds * len(labels), BOUNDS
    for done in range(max(rounds, LAST_LOOK)):
        labels = [*controls, *running]
        most = max(rounds, min(LAST_LOOK, done + budget // len(labels)))
        end = most if done >= FIRST_LOOK else min(most, FIRST_LOOK)
        runs = _runs_of_final(known, controls, running, clock, (done, end))
        _extend(final, measure(labels, Heat(len(SCREEN) + done, 1, runs)))
        budget -= len(labels)
        if done + 1 == most:
            bounds = LAST_BOUNDS
            break
        if done + 1 < FEW_ROUNDS or done + 1 > LAST_LOOK:
            continue  # after LAST_LOOK, the last round decides
        running = _still_open(final, controls, running, clock)
        running = _fewer(final, controls, running, clock)
        known = final
        if done + 1 >= FIRST_LOOK and (
            not running or _is_certain(final, controls, _fastest(final, running, clock), clock)
        ):
            break
    return final, judge(final, controls, clock, bounds)


def _runs_of_final(
    known: Samples,
    controls: Sequence[str],
    running: Sequence[str],
    clock: Clock,
    of_rounds: tuple[int, int],
) -> int:
    """The expected number of runs that are left of its stage, at least those of one round.

    `known` are trials of the screen, or of the final; `of_rounds`: the rounds done, and the maximum
    at the end of the stage.
    """
    done, most = of_rounds
    known = {label: known[label] for label in (*controls, *running) if known.get(label)}
    challengers = [label for label in running if label in known]
    if not challengers:
        return max(1, FIRST_LOOK - done) * (len(controls) + len(running))
    leader = _fastest(known, challengers, clock)
    end = _gain(known, controls, leader, clock).expected_rounds(MIN_GAIN, most)
    left = [max(1, end - done)] * (len(controls) + len(running) - len(challengers))
    for label in challengers:
        leaves = _gain(known, controls, label, clock).rounds_to_fall_short(MIN_GAIN, end)
        if label != leader:
            behind = _gain(known, [leader], label, clock)
            leaves = min(leaves, behind.rounds_to_fall_short(1.0, end))
        left.append(max(1, max(leaves, FEW_ROUNDS) - done))
    return sum(left)


def judge(
    final: Samples,
    controls: Sequence[str],
    clock: Clock | None = None,
    bounds: Sequence[float] = BOUNDS,
) -> Verdict:
    """Keeps the fastest label if its gain over every control is certain, else the best control.

    `bounds`: `LAST_BOUNDS` after all rounds that were planned, `SINGLE_LOOK` after a fixed number.
    """
    chosen = clock or deciding_clock(chain.from_iterable(final.values()))
    rounds = max(len(trials) for trials in final.values())
    complete = [label for label, trials in final.items() if len(trials) == rounds]
    control = _fastest(final, controls, chosen)
    fastest = _fastest(final, complete, chosen)
    if fastest in controls:
        return Verdict(control, fastest, None, rounds)
    gain = _gain(final, controls, fastest, chosen)
    kept = fastest if _is_certain(final, controls, fastest, chosen, bounds) else control
    return Verdict(kept, fastest, gain.interval(), rounds)


def _still_open(
    samples: Samples, controls: Sequence[str], running: Sequence[str], clock: Clock
) -> list[str]:
    """The challengers that may still gain MIN_GAIN, and be the fastest."""
    if not running:
        return []
    leader = _fastest(samples, running, clock)
    return [
        label
        for label in running
        if not _gain(samples, controls, label, clock).falls_short(MIN_GAIN)
        and (label == leader or not _gain(samples, [leader], label, clock).falls_short(1.0))
    ]


def _fewer(
    samples: Samples, controls: Sequence[str], running: Sequence[str], clock: Clock
) -> list[str]:
    """The fastest challengers, as many as FINALISTS allows after that number of rounds."""
    rounds = len(samples[controls[0]])
    allowed = min((n for since, n in FINALISTS.items() if rounds >= since), default=len(running))
    gains = {label: _gain(samples, controls[:1], label, clock).mean for label in running}
    return sorted(running, key=lambda label: -gains[label])[:allowed]


def _is_certain(
    samples: Samples,
    controls: Sequence[str],
    label: str,
    clock: Clock,
    bounds: Sequence[float] = BOUNDS,
) -> bool:
    """Whether the label gains MIN_GAIN over every control."""
    gains = [_gain(samples, [control], label, clock) for control in controls]
    return all(gain.exceeds(MIN_GAIN, bounds) for gain in gains)


def _with_hope(samples: Samples, running: Sequence[str]) -> list[str]:
    ranked = _ranked(samples, running)
    clock = deciding_clock(chain.from_iterable(samples.values()))
    times = {label: min(map(clock, samples[label])) for label in ranked}
    limit = HOPELESS * min(times.values(), default=0.0)
    return [label for at, label in enumerate(ranked) if at < MIN_LEFT or times[label] <= limit]


def _ranked(samples: Samples, running: Sequence[str]) -> list[str]:
    """The challengers, the fastest first, over the rounds that all of them had."""
    clock = deciding_clock(chain.from_iterable(samples.values()))
    return sorted(running, key=lambda label: median(map(clock, samples[label])))


def _gain(samples: Samples, over: Sequence[str], label: str, clock: Clock) -> Gain:
    """The gain of a label over each of these others, in common rounds: the least."""
    found = []
    for other in over:
        count = min(len(samples[label]), len(samples[other]))
        slower = [clock(trial) for trial in samples[other][:count]]
        faster = [clock(trial) for trial in samples[label][:count]]
        found.append(paired_gain(slower, faster))
    return min(found, key=lambda gain: gain.mean)


def _fastest(samples: Samples, labels: Sequence[str], clock: Clock) -> str:
    """The label with the least time relative to the first one, in common rounds."""
    first = labels[0]
    return max(labels, key=lambda label: _gain(samples, [first], label, clock).mean)


def _extend(samples: Samples, new: Samples) -> None:
    for label, trials in new.items():
        samples[label].extend(trials)
