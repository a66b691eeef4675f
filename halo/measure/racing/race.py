"""Finds the fastest candidate in few runs.

Successive halving (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification", AISTATS 2016)
chooses the finalists. The final decides among them, if there is time for one. Otherwise the
fastest is kept, and the answer, in rounds of its own, shows whether it gains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from halo.measure.racing.clock import deciding_clock
from halo.measure.racing.field import Arms
from halo.measure.racing.final import run_final
from halo.measure.racing.heats import Heat, Measure
from halo.measure.racing.sequential import FIRST_LOOK
from halo.measure.racing.verdict import MIN_GAIN, RaceComparison, RaceVerdict
from halo.measure.runs.rounds import Samples

FAR = 0.97  # times as fast as its allocator alone, in one heat in time slices: no plan can gain
HOPELESS = 1.15  # times slower than the best challenger: not in the second heat
MIN_LEFT = 4  # challengers in the second heat, if there are as many
MAX_OF_FINAL = 30  # rounds of the final, if none leave
MAX_OF_LAST = 3  # rounds of the last heat, if there is no final
CLEAR = 1.05  # times as fast in a single round, which only time slices permit
HASTY = (1, 1, 0)  # rounds of the heats of a screen that has little time, or needs little
LATE = 1.5  # times the runs of a race: three heats may take as many, at the answer's expense


@dataclass(frozen=True)
class Pace:
    """How many rounds the heats of the screen have, and how many runs the final; 0: no final.

    Without a third heat, half of the challengers leave after the first one.
    """

    screen: tuple[int, int, int] = (2, 1, 2)
    final_runs: int = 0

    @property
    def is_hasty(self) -> bool:
        return not self.screen[-1]

    def final_rounds(self, labels: int) -> int:
        """The maximum number of rounds of the final, if no label leaves."""
        return min(MAX_OF_FINAL, max(FIRST_LOOK, self.final_runs // max(labels, 1)))


def pace_for(runs: int, field: Arms, share: float = 1.0, in_slices: bool = False) -> Pace:
    """The pace of a race of about that many runs.

    `share` of the time of the final's trials are the runs, if these have cool-downs. Rounds in time
    slices tell so much that two suffice for a screen.
    """
    finalists = FIRST_LOOK * len(field.finalists(field.challengers))
    for screen in (HASTY,) if in_slices else ((2, 1, 2), (1, 1, 2)):
        left = int(share * (runs - screen_runs(field, Pace(screen))))
        if left >= finalists:
            return Pace(screen, left)
    brisk = Pace((1, 1, 1))
    left = runs - screen_runs(field, brisk)
    if in_slices or screen_runs(field, brisk) > LATE * runs:
        return Pace(HASTY)
    last = len(field.controls) + _half(len(field.challengers))
    return Pace((1, 1, min(MAX_OF_LAST, 1 + max(0, left) // last)))


@dataclass(frozen=True)
class Raced:
    """All trials of a race: those of the screen, of the final, and the verdict.

    In each, the trials of a label are those of the first rounds: it may have left early.
    """

    screen: Samples
    final: Samples
    verdict: RaceVerdict


def screen_runs(field: Arms, pace: Pace) -> int:
    """The expected runs of the screen."""
    return _runs_left(field, pace, 0, len(field.challengers))


def race(measure: Measure, field: Arms, pace: Pace) -> Raced:
    """Runs the screen and the final.

    The controls (`none`, over each next allocator) stay to the end. Without a final, only the first
    one stays in a screen in time slices of which the leader gains clearly. Without a challenger
    that may gain MIN_GAIN, there is no final.
    """
    screen: Samples = {label: [] for label in (*field.controls, *field.challengers)}
    controls, running, done = list(field.controls), list(field.challengers), 0
    for number, rounds in enumerate(filter(None, pace.screen)):
        heat = Heat(number, rounds, _runs_left(field, pace, number, len(running)))
        for label, trials in measure([*controls, *running], heat).items():
            screen[label].extend(trials)
        done += rounds
        if number == 0:
            compared = _compared(screen, field)
            running = _with_hope(compared, running)
            means = [compared.gain(label, field.controls[:1]).mean for label in running]
            if means and compared.in_slices and max(means) < math.log(FAR):
                running = []
                break
            if compared.in_slices and not pace.final_runs:
                running = _near(compared, running)
                if running and compared.gain(running[0]).mean > math.log(CLEAR):
                    if len(running) == 1:
                        break
                    controls = controls[:1]
        if number == 1 or pace.is_hasty:
            running = _compared(screen, field).ranked(running)[: _half(len(field.challengers))]
    compared = _compared(screen, field)
    hopeful = [label for label in compared.ranked(running) if compared.may_gain(label)]
    if not hopeful:
        fastest = compared.fastest([*field.controls, *running])
        verdict = RaceVerdict(compared.fastest(field.controls), fastest, done)
        return Raced(screen, {}, verdict)
    if not pace.final_runs:
        leader = max(hopeful, key=lambda label: compared.gain(label).mean)
        gains = compared.gain(leader).mean > math.log(MIN_GAIN)
        kept = leader if gains else compared.fastest(field.controls)
        return Raced(screen, {}, RaceVerdict(kept, leader, done))
    labels = field.finalists(hopeful)
    challengers = [label for label in labels if label not in field.controls]
    rounds = pace.final_rounds(len(labels))
    final, verdict = run_final(measure, compared, challengers, rounds, field.huge_page_users)
    return Raced(screen, final, verdict)


def _compared(screen: Samples, field: Arms) -> RaceComparison:
    clock = deciding_clock(chain.from_iterable(screen.values()))
    return RaceComparison(screen, field.controls, clock)


def _runs_left(field: Arms, pace: Pace, number: int, running: int) -> int:
    """The expected runs of the screen, from that heat on, with that number of challengers running.

    Of most programs, half of the plans are hopeless after the first heat.
    """
    kept = min(running, _half(len(field.challengers)))
    challengers = [running, kept if number == 0 else running, kept]
    return sum(
        rounds * (len(field.controls) + left)
        for rounds, left in list(zip(pace.screen, challengers, strict=True))[number:]
    )


def _half(challengers: int) -> int:
    return min(challengers, max(MIN_LEFT, (challengers + 1) // 2))


def _near(compared: RaceComparison, running: Sequence[str]) -> list[str]:
    """Those that are hardly slower than the fastest."""
    ranked = compared.ranked(running)
    gains = [compared.gain(label, ranked[:1]).mean for label in ranked]
    return [it for it, gain in zip(ranked, gains, strict=True) if gain >= -math.log(CLEAR)]


def _with_hope(compared: RaceComparison, running: Sequence[str]) -> list[str]:
    ranked = compared.ranked(running)
    times = {label: min(map(compared.clock, compared.samples[label])) for label in ranked}
    limit = HOPELESS * min(times.values(), default=0.0)
    return [label for at, label in enumerate(ranked) if at < MIN_LEFT or times[label] <= limit]
