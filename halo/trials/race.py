"""Finds the fastest candidate by successive halving, and keeps it only if its gain is real."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median

from halo.trials.job import Sample
from halo.trials.rounds import Samples, relative_times, walls
from halo.trials.statistics import Ratio, ratio

# A gain counts from one per cent on: less is noise on most machines and not worth a plan.
LEAST_GAIN = 1.01

HEATS = 3

# Measures these labels for that many recorded rounds, in that heat: the first begins with a dropped
# warm-up round, the last lets the machine settle between runs that use huge pages.
Measure = Callable[[Sequence[str], int, int], Samples]


@dataclass(frozen=True)
class Heat:
    """One heat of the race: how many rounds, and how many candidates go on to the next."""

    rounds: int
    survivors: int


@dataclass(frozen=True)
class Verdict:
    """The label kept, the fastest label, and the fastest one's gain over the best control.

    `rounds`: how many of the last rounds decided.
    """

    kept: str
    fastest: str
    gain: Ratio | None
    rounds: int = 0


def heats(candidates: int, final_rounds: int) -> list[Heat]:
    """Few rounds for all, more for the better half, most for the last three."""
    few = min(final_rounds, max(3, final_rounds // 4))
    return [
        Heat(few, max(3, (candidates + 1) // 2)),
        Heat(min(few + 1, final_rounds), 3),
        Heat(final_rounds, 1),
    ]


def race(
    measure: Measure,
    labels: Sequence[str],
    controls: Sequence[str],
    final_rounds: int,
    hungry: Collection[str] = (),
) -> tuple[Samples, Verdict]:
    """Runs the heats. The controls (`none`, over each next allocator) stay in to the end.

    So does the best candidate that asks for no huge pages (is not `hungry`): what they cost shows
    only in the last heat.
    """
    samples: Samples = {label: [] for label in labels}
    running = list(labels)
    for number, heat in enumerate(heats(len(labels), final_rounds)):
        found = measure(running, heat.rounds, number)
        for label, new in found.items():
            samples[label].extend(new)
        if number < HEATS - 1:
            running = _survivors(samples, running, controls, hungry, heat.survivors)
    return samples, judge({label: samples[label] for label in running}, controls, final_rounds)


def _survivors(
    samples: Samples,
    running: Sequence[str],
    controls: Sequence[str],
    hungry: Collection[str],
    count: int,
) -> list[str]:
    challengers = sorted(
        (label for label in running if label not in controls), key=lambda c: _time(samples[c])
    )
    chosen = challengers[:count]
    frugal = next((label for label in challengers if label not in hungry), None)
    if frugal is not None and frugal not in chosen:
        chosen[-1] = frugal
    return [*controls, *chosen]


def judge(finalists: Samples, controls: Sequence[str], final_rounds: int) -> Verdict:
    """Keeps the fastest finalist where its gain over every control is real, else a control.

    Which control, all heats tell, for the controls ran in all of them; the gain, the last one does.
    """
    last = {label: samples[-final_rounds:] for label, samples in finalists.items()}
    running = [label for label in finalists if label in controls]
    control = _fastest({label: finalists[label] for label in running})
    fastest = _fastest(last)
    if fastest in controls:
        return Verdict(control, fastest, None, final_rounds)
    hardest = _fastest({label: last[label] for label in running})
    gain = ratio(walls(last[hardest]), walls(last[fastest]))
    kept = fastest if gain.low > LEAST_GAIN else control
    return Verdict(kept, fastest, gain, final_rounds)


def _fastest(samples: Samples) -> str:
    times = relative_times(samples)
    return min(times, key=times.__getitem__)


def _time(samples: Sequence[Sample]) -> float:
    return median(walls(samples))
