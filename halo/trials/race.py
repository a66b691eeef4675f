"""Finds the fastest candidate by successive halving; keeps it only if its gain is significant.

Successive halving: Jamieson and Talwalkar, "Non-stochastic Best Arm Identification" (AISTATS 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median

from halo.schema.trial import Trial
from halo.trials.runs.rounds import Samples, relative_times, walls
from halo.trials.statistics import Ratio, ratio

# The minimum gain: less is noise on most machines and not worth a plan.
MIN_GAIN = 1.01

HEATS = 3

# Measures these labels for that many recorded rounds, in that heat. The first heat begins with a
# warm-up round; the last one has cool-downs after runs with huge pages.
Measure = Callable[[Sequence[str], int, int], Samples]


@dataclass(frozen=True)
class Heat:
    """One heat of the race: its rounds, and the number of candidates that reach the next one."""

    rounds: int
    survivors: int


@dataclass(frozen=True)
class Verdict:
    """The label kept, the fastest label, and the fastest one's gain over the best control.

    `rounds`: the number of final rounds that decided.
    """

    kept: str
    fastest: str
    gain: Ratio | None
    rounds: int = 0


def heats(candidates: int, final_rounds: int) -> list[Heat]:
    """Heats with few rounds for all, more for the better half, the maximum for the last three."""
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
    huge_page_users: Collection[str] = (),
) -> tuple[Samples, Verdict]:
    """Runs the heats. The controls (`none`, over each next allocator) stay to the end.

    So does the best candidate without huge pages (not in `huge_page_users`), as the cost of huge
    pages is visible only in the last heat.
    """
    samples: Samples = {label: [] for label in labels}
    running = list(labels)
    for number, heat in enumerate(heats(len(labels), final_rounds)):
        found = measure(running, heat.rounds, number)
        for label, new in found.items():
            samples[label].extend(new)
        if number < HEATS - 1:
            running = _survivors(samples, running, controls, huge_page_users, heat.survivors)
    return samples, judge({label: samples[label] for label in running}, controls, final_rounds)


def _survivors(
    samples: Samples,
    running: Sequence[str],
    controls: Sequence[str],
    huge_page_users: Collection[str],
    count: int,
) -> list[str]:
    challengers = sorted(
        (label for label in running if label not in controls), key=lambda c: _time(samples[c])
    )
    chosen = challengers[:count]
    small_pages = next((label for label in challengers if label not in huge_page_users), None)
    if small_pages is not None and small_pages not in chosen:
        chosen[-1] = small_pages
    return [*controls, *chosen]


def judge(finalists: Samples, controls: Sequence[str], final_rounds: int) -> Verdict:
    """Keeps the fastest finalist if its gain over every control is significant, else a control.

    All heats decide which control, as the controls ran in all; the last heat decides on the gain.
    """
    last = {label: samples[-final_rounds:] for label, samples in finalists.items()}
    running = [label for label in finalists if label in controls]
    control = _fastest({label: finalists[label] for label in running})
    fastest = _fastest(last)
    if fastest in controls:
        return Verdict(control, fastest, None, final_rounds)
    hardest = _fastest({label: last[label] for label in running})
    gain = ratio(walls(last[hardest]), walls(last[fastest]))
    kept = fastest if gain.low > MIN_GAIN else control
    return Verdict(kept, fastest, gain, final_rounds)


def _fastest(samples: Samples) -> str:
    times = relative_times(samples)
    return min(times, key=times.__getitem__)


def _time(samples: Sequence[Trial]) -> float:
    return median(walls(samples))
