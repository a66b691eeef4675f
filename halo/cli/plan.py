"""`halo plan`: turns a profile into a plan and shows its groups for review."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import BadInput, BadProfile, UsageError
from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.list_action import ListAction
from halo.cli.shared.program import warn_of_deep_binding

if TYPE_CHECKING:
    from halo.record.profile import Profile
    from halo.record.transfer import Carried


class PlanCommand:
    name = "plan"
    summary = "Make a plan from a profile: a compact file and a JSON file for review."
    usage = "halo plan [OPTIONS] PROFILE | halo plan --list"
    examples = ("halo plan --strategy dense --option by_size=true jq.profile",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        from halo.plan.strategies.factory import names

        parser.add_argument(
            "profile",
            type=profile_argument,
            metavar="PROFILE",
            help="profile written by `halo record`, or a results folder",
        )
        parser.add_argument(
            "--strategy",
            default="halo",
            metavar="NAME",
            help=f"strategy: {', '.join(names())} (default %(default)s)",
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="option of the strategy or of the plan (see --list); repeatable",
        )
        parser.add_argument(
            "--list", action=ListAction, lines=_list, help="list the strategies and all options"
        )
        parser.add_argument(
            "--identification",
            choices=("walk", "selectors"),
            help="identification of groups by a stack walk, or by selectors as in the HALO paper;"
            " short for --option identification=... (default walk)",
        )
        parser.add_argument(
            "--file",
            metavar="GROUPS",
            help="groups of the strategy from-file; short for --option file=GROUPS",
        )
        parser.add_argument(
            "--for",
            dest="program",
            metavar="PROG",
            help="other build of the recorded program's source, which the plan is made for; both"
            " builds need debug information (default: the recorded build)",
        )
        parser.add_argument(
            "-v",
            "--verbose",
            action="store_true",
            help="also print how the runtime recognises the groups",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="PLAN",
            help="plan to write (default: PROFILE with the suffix .plan)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.base.files.kinds import PROFILE, refuse_other
        from halo.cli.shared.review import show_review
        from halo.plan import review_path
        from halo.plan.strategies.planning import make_plan, save_plan
        from halo.record.profile import read_profile

        if rest:
            raise UsageError("`halo plan` takes a profile and no program; leave out the `--`.")
        if not options.profile.name:
            raise BadProfile(f"'{options.profile}' is not a profile; give the file of a recording.")
        refuse_other(options.profile, BadProfile, PROFILE)
        path = options.output or options.profile.with_suffix(".plan")
        check_place(path)
        if options.profile.resolve() in (path.resolve(), review_path(path).resolve()):
            raise BadInput(
                f"{options.profile} would be overwritten by its plan; give another output with -o."
            )
        chosen = strategy_options(options.option, options.file)
        if options.identification is not None:
            chosen["identification"] = options.identification
        profile = read_profile(options.profile)
        program, carry = Path(profile.program), None
        if options.program is not None:
            program = find_target(options.program, settings.environment).path
            carry = partial(_carry_over, program)
        plan = make_plan(profile, options.strategy, chosen, carry, options.profile)
        save_plan(plan, path)
        show_review(plan, path, options.verbose)
        if program.is_file():
            warn_of_deep_binding(settings, program)
            run = [str(program), *map(str, profile.args)]
            step = [settings.command, "exec", "--plan", str(path), "--", *run]
            print(f"Next: {shlex.join(step)}")
        return 0


def _list() -> Iterator[str]:
    """The strategies with their options, and the options of every plan."""
    from halo.plan import describe_options
    from halo.plan.builder import PlanOptions
    from halo.plan.strategies.factory import CommonOptions
    from halo.plan.strategies.registry import STRATEGIES

    for strategy in STRATEGIES:
        yield f"{strategy.name:14} {strategy.summary}"
        yield from map(_option_line, describe_options(strategy.options))
    yield f"{'any strategy':14} options of every plan"
    yield from map(_option_line, describe_options(CommonOptions))
    yield from map(_option_line, describe_options(PlanOptions))


def _option_line(described: tuple[str, str, str]) -> str:
    name, default, text = described
    return f"  {name:16} {text}{f' (default {default})' if default else ''}"


def _carry_over(program: Path, profile: Profile) -> Carried:
    from halo.record.transfer import carry_over

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
