"""`halo deploy`: writes a folder from which a program runs under its plan without halo."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.console.outcome import say
from halo.base.errors import CannotRun, UsageError
from halo.base.settings import Settings
from halo.binary.process.allocators import GLIBC, find_allocator
from halo.binary.process.target import Target, locate_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.program import check_runtime

if TYPE_CHECKING:
    from halo.ship.deployment.choice import DeploymentChoice


class DeployCommand:
    name = "deploy"
    summary = "Write a folder that runs a program under its plan on a machine without halo."
    usage = (
        "halo deploy [OPTIONS] RESULTS [-- PROG]"
        " | halo deploy [OPTIONS] --plan PLAN --allocator NAME [-- PROG]"
    )
    examples = ("halo deploy results/jq-20260101-120000 -o jq-halo",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "results",
            type=Path,
            nargs="?",
            metavar="RESULTS",
            help="results folder of `halo run`, whose kept plan and allocator are deployed; or the"
            " allocator alone, if it is faster than glibc's and no plan helps",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="DIR",
            help="folder to write, new or empty (default PROGRAM-deploy)",
        )
        parser.add_argument(
            "--path",
            type=Path,
            metavar="PATH",
            help="where DIR will be on the other machine; `env` and the snippets name it (default:"
            " where DIR is now)",
        )
        parser.add_argument(
            "--plan", type=plan_argument, metavar="PLAN", help="plan to deploy, instead of RESULTS"
        )
        parser.add_argument(
            "--allocator",
            metavar="NAME",
            help="allocator of the objects that the plan does not place, or alone without a plan:"
            " glibc, jemalloc, mimalloc, tcmalloc or the path of a library (default: the one that"
            " the plan was kept over, or glibc)",
        )
        parser.add_argument(
            "--systemd",
            metavar="UNIT",
            help="also write UNIT.d/halo.conf, a drop-in for this service of systemd",
        )
        parser.add_argument(
            "--docker", action="store_true", help="also write Dockerfile, lines to add to one"
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.console.terminal import make_console, show_prose
        from halo.ship.deployment.contents import requirements
        from halo.ship.deployment.folder import Request, deploy
        from halo.ship.deployment.names import unit_name
        from halo.ship.deployment.next_lines import default_output

        unit = unit_name(options.systemd) if options.systemd is not None else ""
        choice = _choice(options)
        if choice.plan is not None:
            check_runtime(settings)
        target = _target(settings, choice, rest)
        if rest and target is not None:
            choice = replace(choice, program=target.path.name)
        output = options.output or default_output(choice)
        place = options.path or output.absolute()
        request = Request(output, place, target, settings.command, unit, options.docker)
        found, notes = deploy(
            choice, request, settings.runtime, settings.repository, settings.environment
        )
        for note in notes:
            say(f"halo: note: {note}")
        if target is None and choice.path:
            say(f"halo: note: {choice.path} is not here; the folder was not checked with it.")
        console = make_console()
        show_prose(console, f"Deployed: {found.what}")
        if found.why:
            show_prose(console, f"Measured: {found.why}")
        show_prose(console, f"Needs: {requirements(found.libraries)}")
        print(f"Folder: {output}")
        print(f"Next: {_start(choice, target, output, place)}")
        return 0


def _start(choice: DeploymentChoice, target: Target | None, output: Path, place: Path) -> str:
    """What copies the folder to its place, if it is elsewhere, and starts the program there.

    If it is not known which program that is, what shows how to start any.
    """
    from halo.ship.deployment.contents import README, RUN

    program = str(target.path) if target is not None else choice.path
    start = f"{shlex.join([f'{place}/{RUN}', program])} {choice.arguments}".rstrip()
    if not program:
        start = shlex.join(["cat", f"{place}/{README}"])
    if place == output.absolute():
        return start
    here, parent, there = (shlex.quote(str(path)) for path in (output, place.parent, place))
    return f"mkdir -p {parent} && cp -rT {here} {there} && {start}"


def _choice(options: argparse.Namespace) -> DeploymentChoice:
    from halo.plan import read_plan
    from halo.plan.updates import chosen_allocator
    from halo.report.results import read_measurements
    from halo.ship.deployment.choice import choice_of_allocator, choice_of_plan, choice_of_results

    chosen = options.plan is not None or options.allocator is not None
    if (options.results is not None) == chosen:
        raise UsageError(
            "`halo deploy` needs either RESULTS, a results folder of halo run, or --plan PLAN,"
            " --allocator NAME or both."
        )
    if options.results is not None:
        return choice_of_results(read_measurements([options.results])[0])
    if options.plan is None:
        return choice_of_allocator(find_allocator(options.allocator))
    known = options.allocator or chosen_allocator(options.plan, read_plan(options.plan))
    return choice_of_plan(options.plan, find_allocator(known or GLIBC))


def _target(settings: Settings, choice: DeploymentChoice, rest: list[str]) -> Target | None:
    """The program to check with: the given one, or the recorded one if it is still there."""
    if len(rest) > 1:
        raise UsageError("`halo deploy` takes a program without arguments after the `--`.")
    if rest:
        return locate_target(rest[0], settings.environment)
    try:
        return locate_target(choice.path, settings.environment)
    except CannotRun:
        return None
