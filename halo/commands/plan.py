"""`halo plan`: turns a profile into a plan and shows its groups for review."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.program import warn_of_deep_binding
from halo.errors import UsageError
from halo.settings import Settings
from halo.target import find_target

if TYPE_CHECKING:
    from halo.profile import Profile
    from halo.transfer import Carried


class PlanCommand:
    name = "plan"
    summary = "Turn a profile into a reviewable plan, and the compact form the runtime reads."
    usage = (
        "halo plan PROFILE [--strategy NAME] [--identification walk|selectors]"
        " [--option KEY=VALUE] [--file GROUPS] [--for PROG] [-o PLAN]"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        from halo.strategies import names

        parser.add_argument("profile", type=Path, metavar="PROFILE")
        parser.add_argument(
            "--strategy",
            default="halo",
            metavar="NAME",
            help=f"one of {', '.join(names())} (default: halo)",
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="an option of the strategy or of the plan (docs/strategies.md); repeatable",
        )
        parser.add_argument(
            "--identification",
            choices=("walk", "selectors"),
            help="how the runtime tells groups apart: by walking the stack (default), or by"
            " selectors over redirected calls, as in the paper",
        )
        parser.add_argument("--file", metavar="GROUPS", help="the groups, for from-file")
        parser.add_argument(
            "--for",
            dest="program",
            metavar="PROG",
            help="make it for this build of the recorded program's source, which needs debug"
            " information (default: for the recorded one)",
        )
        parser.add_argument(
            "-o", "--output", type=Path, metavar="PLAN", help="default: PROFILE's name with .plan"
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.commands.review import show_review
        from halo.destination import check_place
        from halo.planning import make_plan, read_profile, save_plan

        if rest:
            raise UsageError("`halo plan` takes a profile and no program; leave out the `--`.")
        path = options.output or options.profile.with_suffix(".plan")
        check_place(path)
        chosen = strategy_options(options.option, options.file)
        if options.identification is not None:
            chosen["identification"] = options.identification
        profile = read_profile(options.profile)
        program, carry = Path(profile.program), None
        if options.program is not None:
            program = find_target(options.program, settings.environment).path
            carry = partial(_carry_over, program)
        plan = make_plan(profile, options.strategy, chosen, carry)
        save_plan(plan, path)
        show_review(plan, path)
        if program.is_file():
            warn_of_deep_binding(settings, program)
        return 0


def _carry_over(program: Path, profile: Profile) -> Carried:
    from halo.transfer import carry_over

    carried = carry_over(profile, program)
    if carried.lost:
        lost = sum(carried.unified.contexts[at].accesses for at in carried.lost)
        print(
            f"{len(carried.lost)} of {len(carried.became)} contexts, with"
            f" {lost / max(profile.accesses, 1):.1%} of the accesses, are not in {program.name};"
            " they stay ungrouped.",
            file=sys.stderr,
        )
    return carried


def strategy_options(pairs: list[str], file: str | None) -> dict[str, str]:
    """The `--option KEY=VALUE`s as a mapping; `--file F` is short for `--option file=F`."""
    result = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise UsageError(f"'{pair}' is not KEY=VALUE; write for instance: --option seed=1")
        result[key] = value
    if file is not None:
        result["file"] = file
    return result
