"""`halo update`: makes a plan for another build of the program."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.console.outcome import say
from halo.base.errors import BadInput, UsageError
from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument

if TYPE_CHECKING:
    from halo.plan.updates import Origin, OriginalProfile, Renewed

SHOWN = 8  # hex digits of a build-id in the name of a plan


class UpdateCommand:
    name = "update"
    summary = "Make a plan fit another build of the program, without recording it."
    usage = "halo update [OPTIONS] PLAN [--for PROG]"
    examples = ("halo update jq.plan --for ./jq -o jq-new.plan",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "plan",
            type=plan_argument,
            metavar="PLAN",
            help="plan for an earlier build, with PLAN.json beside it",
        )
        parser.add_argument(
            "--for",
            dest="program",
            metavar="PROG",
            help="program to make the plan for; another build than the recorded one needs debug"
            " information (default: the program that PLAN names)",
        )
        parser.add_argument(
            "--profile",
            type=Path,
            metavar="FILE",
            help="profile to plan from (default: the one that PLAN was made from)",
        )
        place = parser.add_mutually_exclusive_group()
        place.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="NEW",
            help="plan to write (default: beside PLAN, with the start of the build-id in its name)",
        )
        place.add_argument("--in-place", action="store_true", help="replace PLAN")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.plan.strategies.planning import save_plan
        from halo.plan.updates import find_recording, read_origin, renew

        if rest:
            raise UsageError("`halo update` takes no program after `--`; name it with --for PROG.")
        origin = read_origin(options.plan)
        program = find_target(_program(options.program, origin), settings.environment).path
        path = options.plan if options.in_place else options.output or _beside(origin, program)
        check_place(path)
        recording = find_recording(origin, options.profile)
        renewed = renew(origin, recording, program)
        save_plan(renewed.plan, path)
        _report(origin, recording, renewed, program)
        kept = "" if path == options.plan else f"; {options.plan} stays (--in-place replaces it)"
        print(f"Plan: {path}, for {program}{kept}")
        allocator = ["--allocator", origin.allocator] if origin.allocator else []
        review = renewed.plan.review
        arguments = review.command[1:] if review is not None else []
        run = [options.program or str(program), *arguments]
        command = [settings.command, "exec", "--plan", str(path), *allocator, "--", *run]
        print(f"Next: {shlex.join(command)}")
        return 0


def _program(given: str | None, origin: Origin) -> str:
    if given is None and not origin.program:
        raise UsageError(f"{origin.path} names no program; give it with --for PROG.")
    return given or origin.program


def _beside(origin: Origin, program: Path) -> Path:
    """A name of its own for the plan of each build; `BadInput` if another plan has that name."""
    from halo.base.errors import BadPlan
    from halo.binary.elf import build_id_of
    from halo.plan import read_plan

    build_id = build_id_of(program)
    stem = origin.path.stem.removesuffix(f"-{origin.build_id[:SHOWN]}")
    path = origin.path.with_name(f"{stem}-{build_id[:SHOWN]}{origin.path.suffix}")
    if not path.exists():
        return path
    try:
        found = read_plan(path)
        ours = found.executable is not None and found.modules[found.executable].build_id == build_id
    except BadPlan:
        ours = False
    if not ours:
        raise BadInput(f"{path} exists and is not a plan for {program}; give another name with -o.")
    return path


def _report(origin: Origin, recording: OriginalProfile, renewed: Renewed, program: Path) -> None:
    """Prints what carried over, and the reasons to record again."""
    from halo.base.console.terminal import make_console, show_prose

    made = f"strategy {origin.strategy}"
    if origin.allocator:
        made += f", over {origin.allocator}"
    carried = (
        f"{renewed.kept} of {renewed.contexts} contexts carried over, with {renewed.share:.1%} of"
        f" the recorded accesses; {made}."
    )
    if renewed.same_build:
        carried = f"{program.name} is the recorded build: planned again with {made}."
    show_prose(make_console(), carried)
    if not renewed.enough:
        say(
            f"halo: warning: only {renewed.share:.1%} of the recorded accesses carried over; record"
            " the new build for a better plan."
        )
    if not recording.same:
        say(
            f"halo: warning: {origin.path} was made from another recording than {recording.file},"
            " so its groups may differ."
        )
