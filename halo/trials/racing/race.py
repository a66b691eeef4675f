"""Finds the fastest candidate in few runs, and keeps it only if its gain is certain.

Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification", AISTATS 2016)
chooses the finalists. The final decides among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from halo.trials.racing.clock import deciding_clock
from halo.trials.racing.field import Field
from halo.trials.racing.final import run_final
from halo.trials.racing.heats import SCREEN, Heat, Measure
from halo.trials.racing.verdict import Comparison, Verdict
from halo.trials.runs.rounds import Samples

HOPELESS = 1.15  # times slower than the best challenger: not in the second heat
MIN_LEFT = 4  # challengers in the second heat, if there are as many


@dataclass(frozen=True)
class Raced:
    """All trials of a race: those of the screen, of the final, and the verdict.

    In each, the trials of a label are those of the first rounds: it may have left early.
    """

    screen: Samples
    final: Samples
    verdict: Verdict


def screen_runs(field: Field) -> int:
    """The expected runs of the screen."""
    return _runs_left(field, 0, len(field.challengers))


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
        for label, trials in measure([*field.controls, *running], heat).items():
            screen[label].extend(trials)
        done += rounds
        if number == 0:
            running = _with_hope(_compared(screen, field), running)
        elif number == 1:
            running = _compared(screen, field).ranked(running)[: _half(len(field.challengers))]
    compared = _compared(screen, field)
    hopeful = [label for label in compared.ranked(running) if compared.may_gain(label)]
    if not hopeful:
        fastest = compared.fastest([*field.controls, *running])
        verdict = Verdict(compared.fastest(field.controls), fastest, done)
        return Raced(screen, {}, verdict)
    labels = field.finalists(hopeful)
    rounds = max_rounds({label: screen.get(label, []) for label in labels})
    challengers = [label for label in labels if label not in field.controls]
    final, verdict = run_final(measure, compared, challengers, rounds, field.huge_page_users)
    return Raced(screen, final, verdict)


def _compared(screen: Samples, field: Field) -> Comparison:
    clock = deciding_clock(chain.from_iterable(screen.values()))
    return Comparison(screen, field.controls, clock)


def _runs_left(field: Field, number: int, running: int) -> int:
    """The expected runs of the screen, from that heat on, with that number of challengers running.

    Of most programs, half of the plans are hopeless after the first heat.
    """
    kept = min(running, _half(len(field.challengers)))
    challengers = [running, kept if number == 0 else running, kept]
    return sum(
        rounds * (len(field.controls) + left)
        for rounds, left in list(zip(SCREEN, challengers, strict=True))[number:]
    )


def _half(challengers: int) -> int:
    return min(challengers, max(MIN_LEFT, (challengers + 1) // 2))


def _with_hope(compared: Comparison, running: Sequence[str]) -> list[str]:
    ranked = compared.ranked(running)
    times = {label: min(map(compared.clock, compared.samples[label])) for label in ranked}
    limit = HOPELESS * min(times.values(), default=0.0)
    return [label for at, label in enumerate(ranked) if at < MIN_LEFT or times[label] <= limit]
