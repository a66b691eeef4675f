"""Decides what is deployed: a plan over its allocator, or an allocator alone."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.binary.process.allocator_settings import setting_of
from halo.binary.process.allocators import GLIBC, Allocator, find_allocator
from halo.measure.candidates import NONE
from halo.measure.racing.gains import HALO, Objective, gain_of, recommended
from halo.measure.racing.sequential import TWO_SIDED
from halo.plan import Plan, read_plan
from halo.report.results.model import Measurement


@dataclass(frozen=True)
class DeploymentChoice:
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


def choice_of_results(measurement: Measurement) -> DeploymentChoice:
    """What the answer is to use: the kept plan, or an allocator, with its setting.

    Raises `BadInput` if there is neither, and `MissingPart` if the allocator is not installed.
    """
    command = measurement.results.commands.get("reference", ("",))
    path, arguments = command[0], _arguments(measurement)
    kept, native = measurement.kept, measurement.summary.native
    has_plan = kept is not None and kept.strategy != NONE and bool(kept.plan)
    objective = Objective(measurement.summary.objective)
    names = (*measurement.allocators, HALO)
    trials = {name: measurement.reference.get(name, ()) for name in names}
    use = recommended(trials, native, has_plan, objective)
    if kept is not None and kept.plan and use == HALO:
        plan = measurement.folder / kept.plan
        recorded = _recorded(read_plan(plan))[0] or path
        allocator = _allocator(measurement, kept.allocator, plan)
        why = measurement.summary.verdict.sentence
        return DeploymentChoice(measurement.program, recorded, plan, allocator, why, arguments)
    if use == native:
        raise BadInput(
            f"There is nothing to deploy from {measurement.folder}: it has no plan that helps, and"
            " no allocator that is measurably faster than glibc's. To deploy one nevertheless:"
            " halo deploy --plan PLAN --allocator NAME"
        )
    gain = gain_of(measurement.reference, use, native).interval(TWO_SIDED)
    why = (
        f"under {use}, {measurement.program} is {gain.value:.2f} times as fast as under"
        f" {native} ({gain.low:.2f} to {gain.high:.2f})."
    )
    return DeploymentChoice(
        measurement.program, path, None, _alone(measurement, use), why, arguments
    )


def choice_of_plan(plan: Path, allocator: Allocator) -> DeploymentChoice:
    """This plan over this allocator."""
    recorded, *arguments = _recorded(read_plan(plan))
    name = Path(recorded).name or plan.stem
    return DeploymentChoice(name, recorded, plan, allocator, arguments=shlex.join(arguments))


def choice_of_allocator(allocator: Allocator) -> DeploymentChoice:
    """This allocator alone; raises `BadInput` for glibc's."""
    if allocator.library is None and allocator.setting is None:
        raise BadInput(
            "There is nothing to deploy: glibc's allocator is part of the C library. Give another"
            " one with --allocator, or a plan with --plan."
        )
    return DeploymentChoice("", "", None, allocator)


def _alone(measurement: Measurement, use: str) -> Allocator:
    """An allocator, with its setting; the program's own need not be preloaded."""
    native, _, name = use.rpartition(":")
    setting = setting_of(native, name) if native == measurement.summary.native else None
    if setting is not None:
        return Allocator(native, None).under(setting)
    return find_allocator(measurement.summary.options.get(use, use))


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
    return find_allocator(measurement.summary.options.get(name, name))
