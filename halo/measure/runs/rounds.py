"""Interleaved trials: each round runs every configuration once, in a fresh random order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from operator import attrgetter
from statistics import mean, median
from typing import Any, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from halo.base.errors import TrialFailed
from halo.base.schema.trial import Trial
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.trial_runner import TrialRunner

Samples = dict[str, list[Trial]]


class RunProgress(NamedTuple):
    """The next run, for the progress display: how many of the stage's are done, of how many.

    `total` is 0 if it is unknown; `left` are the expected seconds of the rest, None: by the pace.
    """

    done: int
    total: int
    label: str
    left: float | None = None


Notice = Callable[[RunProgress], None]


class Span(NamedTuple):
    """The part of a stage that a series is: the runs before it, and those of the whole stage."""

    before: int
    total: int


def silent(step: RunProgress) -> None:
    """No progress display."""


Round = dict[str, Any]
"""One recorded round as JSON values: samples by label, the job's output, omitted labels."""

Keep = Callable[[int, Callable[[int], Round]], Sequence[Round]]
"""Returns that many rounds, from a journal or by calling the function with their indices."""


def in_memory(count: int, run: Callable[[int], Round]) -> Sequence[Round]:
    """Runs the rounds without storing them."""
    return [run(number) for number in range(count)]


def interleave(
    runner: TrialRunner,
    job: Job,
    configs: Sequence[Configuration],
    trials: int,
    notice: Notice = silent,
    warm_up: int = 1,
    keep: Keep = in_memory,
    span: Span | None = None,
) -> Samples:
    """Runs `trials` recorded rounds after `warm_up` dropped ones, unless all are stored.

    `notice` counts the runs of the span; by default the series is a stage of its own.

    The first configuration of the list runs first, so that its output is the reference. An optional
    configuration that cannot run the job is left out from then on, with its samples. Raises
    `TrialFailed` if a stored round had another output.
    """
    running = [c for c in configs if c.label not in runner.left_out]
    warm = 0
    whole = span or Span(0, (warm_up + trials) * len(running))

    def run(number: int) -> Round:
        nonlocal warm
        step = RunProgress(whole.before, whole.total, "")
        while warm < warm_up:
            at = step._replace(done=step.done + warm * len(running))
            _run_round(runner, job, running, at, notice)
            warm += 1
        at = step._replace(done=step.done + (warm_up + number) * len(running))
        found = _run_round(runner, job, running, at, notice)
        output = runner.output(job)
        assert output is not None
        return {
            "output": output.compared(job.ignore_output),
            "samples": {label: to_builtins(trial) for label, trial in found.items()},
            "left_out": dict(runner.left_out),
        }

    rounds = keep(trials, run)
    _check_outputs(runner, job, rounds)
    for each in rounds:
        runner.left_out.update(each["left_out"])
    return {
        config.label: [Trial(**each["samples"][config.label]) for each in rounds]
        for config in configs
        if config.label not in runner.left_out
    }


def _run_round(
    runner: TrialRunner,
    job: Job,
    configs: Sequence[Configuration],
    step: RunProgress,
    notice: Notice,
) -> dict[str, Trial]:
    order = [c for c in configs if c.label not in runner.left_out]
    if runner.output(job) is not None:
        random.shuffle(order)
    found: dict[str, Trial] = {}
    batches = runner.batches(job, order)
    for batch in batches:
        label = batch[0].label if len(batch) == 1 else f"{len(batch)} in slices"
        notice(step._replace(done=step.done + len(found), label=label))
        found |= runner.measure_batch(job, batch)
    if len(batches) > 1:
        return {label: replace(trial, in_slices=False) for label, trial in found.items()}
    return found


def _check_outputs(runner: TrialRunner, job: Job, rounds: Sequence[Round]) -> None:
    first = runner.output(job)
    outputs = [each["output"] for each in rounds]
    if first is not None:
        outputs.insert(0, first.compared(job.ignore_output))
    if any(output != outputs[0] for output in outputs):
        raise TrialFailed(
            f"The output of {job.target.name} is not the one that it had before the measurement was"
            " interrupted; remove the results folder and measure again."
        )


def walls(samples: Sequence[Trial]) -> list[float]:
    """The wall-clock seconds of samples."""
    return [sample.wall for sample in samples]


def relative_times(
    samples: Samples, clock: Callable[[Trial], float] = attrgetter("wall")
) -> dict[str, float]:
    """By label, the median of its time relative to the mean of the same round.

    A slow phase of the machine affects a whole round and cancels out. All labels must have run in
    all rounds.
    """
    times = {label: [clock(trial) for trial in found] for label, found in samples.items()}
    rounds = [mean(values) for values in zip(*times.values(), strict=True)]
    return {
        label: median(time / usual for time, usual in zip(found, rounds, strict=True))
        for label, found in times.items()
    }
