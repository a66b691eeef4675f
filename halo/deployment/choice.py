"""Decides what is deployed: a plan over its allocator, or an allocator alone."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from halo.errors import BadInput
from halo.plan import Plan, read_plan
from halo.process.allocators import GLIBC, Allocator, find_allocator
from halo.results.model import HALO, Measurement
from halo.trials.candidates import NONE
from halo.trials.placement import proven_allocator, seems_slower
from halo.trials.runs.rounds import walls
from halo.trials.statistics import Ratio, ratio


@dataclass(frozen=True)
class Choice:
    """What to deploy.

    `plan` is None for an allocator alone. `program` is a name; `path` leads to the program as it
    was recorded or measured, or is empty. `arguments` are what follows it in a shell, if that is
    known: of the measured run, else of the recorded one. `why` is a sentence, or empty.
    """

    program: str
    path: str
    plan: Path | None
    allocator: Allocator
    why: str = ""
    arguments: str = ""


def choice_of_results(measurement: Measurement) -> Choice:
    """The kept plan, unless it lost on the reference input; else an allocator that beats glibc's.

    Raises `BadInput` if there is neither, and `MissingPart` if the allocator is not installed.
    """
    command = measurement.results.commands.get("reference", ("",))
    path, arguments = command[0], _arguments(measurement)
    kept = measurement.kept
    if kept is not None and kept.strategy != NONE and kept.plan and not _lost(measurement):
        plan = measurement.folder / kept.plan
        recorded = _recorded(read_plan(plan))[0] or path
        allocator = _allocator(measurement, kept.allocator, plan)
        why = measurement.summary.verdict.sentence
        return Choice(measurement.program, recorded, plan, allocator, why, arguments)
    best = proven_allocator(measurement.reference, measurement.summary.native)
    if best is None:
        raise BadInput(
            f"There is nothing to deploy from {measurement.folder}: it has no plan that helps, and"
            " no allocator that is measurably faster than glibc's. To deploy one nevertheless:"
            " halo deploy --plan PLAN --allocator NAME"
        )
    native = measurement.summary.native
    gain = _gain(measurement, best, native)
    why = (
        f"under {best}, {measurement.program} is {gain.value:.2f} times as fast as under"
        f" {native} (95 % interval {gain.low:.2f} to {gain.high:.2f})."
    )
    return Choice(measurement.program, path, None, find_allocator(best), why, arguments)


def choice_of_plan(plan: Path, allocator: Allocator) -> Choice:
    """This plan over this allocator."""
    recorded, *arguments = _recorded(read_plan(plan))
    name = Path(recorded).name or plan.stem
    return Choice(name, recorded, plan, allocator, arguments=shlex.join(arguments))


def choice_of_allocator(allocator: Allocator) -> Choice:
    """This allocator alone; raises `BadInput` for glibc's."""
    if allocator.library is None:
        raise BadInput(
            "There is nothing to deploy: glibc's allocator is part of the C library. Give another"
            " one with --allocator, or a plan with --plan."
        )
    return Choice("", "", None, allocator)


def _recorded(plan: Plan) -> list[str]:
    """The program's path in the review, or an empty text, and its arguments."""
    return [""] if plan.review is None else plan.review.command


def _arguments(measurement: Measurement) -> str:
    """Those of the reference run, with its standard input."""
    commands = measurement.results.commands
    words = shlex.join(commands.get("reference", ())[1:])
    options = list(commands.get("options", ()))
    if "--stdin" not in options:
        return words
    file = options[options.index("--stdin") + 1]
    return f"{words} <{shlex.quote(file)}".lstrip()


def _allocator(measurement: Measurement, name: str, plan: Path) -> Allocator:
    """The kept plan's next allocator; the program's own as the plan's review has it."""
    if measurement.keeps_own:
        review = read_plan(plan).review
        name = (review.allocator if review is not None else "") or GLIBC
    return find_allocator(name)


def _lost(measurement: Measurement) -> bool:
    """Whether the kept plan was slower on the reference input than the best allocator."""
    best = _best(measurement)
    return best != HALO and seems_slower(measurement.reference, HALO, best)


def _best(measurement: Measurement) -> str:
    trials = measurement.reference
    return min(measurement.allocators, key=lambda n: median(walls(trials[n])), default=HALO)


def _gain(measurement: Measurement, one: str, other: str) -> Ratio:
    """The time of `other` over that of `one`, on the reference input."""
    trials = measurement.reference
    return ratio(walls(trials[other]), walls(trials[one]))
