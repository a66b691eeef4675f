"""`halo exec`: becomes the program, under a plan."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from halo.base.console.outcome import say
from halo.base.errors import MissingPart, UsageError
from halo.base.settings import Settings
from halo.binary.process.allocators import (
    GLIBC,
    PLAN_VARIABLE,
    Allocator,
    alone,
    find_allocator,
    preload,
)
from halo.binary.process.colour_range import ColourRange, parse_colours
from halo.binary.process.foreground import become
from halo.binary.process.target import Target, find_target
from halo.binary.process.watch import DEFAULT_SHARE, MAX_SHARE, Watch, watch_refusal
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import add_allocator_option
from halo.cli.shared.program import check_library, the_program, warn_of_deep_binding

# The process can be recorded later (src/recorder/native/engine.h).
RECORDABLE = {"HALO_RECORDABLE": "1"}
LARGEST_CHECKED = 1 << 16  # bytes: the largest object that a plan can place


class ExecCommand:
    name = "exec"
    summary = "Run a program under a plan, in place of halo's own process."
    usage = "halo exec [OPTIONS] [--plan PLAN] -- PROG ARGS"
    examples = (
        "halo exec --plan jq.plan -- jq . large.json",
        "halo exec --plan jq.plan --allocator jemalloc --print-env",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan",
            type=plan_argument,
            metavar="PLAN",
            help="plan in its compact form, or a results folder: its kept plan; may be"
            " left out with --check or --recordable",
        )
        add_allocator_option(
            parser, "allocator of the objects that the plan does not place", of_plan=True
        )
        parser.add_argument(
            "--stale",
            choices=("run", "fail"),
            default="run",
            help="what to do if the plan is for another build: run the program without placement,"
            " or fail with status 116 (default %(default)s)",
        )
        parser.add_argument(
            "--check",
            action="store_true",
            help="use the checking runtime, which reports misuse of freed memory on standard"
            " error; without a plan it checks all objects up to 64 KiB",
        )
        parser.add_argument(
            "--recordable",
            action="store_true",
            help="load the recorder, asleep: `halo record --pid` then records the process while it"
            " runs",
        )
        parser.add_argument(
            "--watch",
            action="store_true",
            help="watch the large objects of the plan's groups while the program runs, and confine"
            " groups that pollute the last-level cache",
        )
        parser.add_argument(
            "--watch-report",
            type=Path,
            metavar="FILE",
            help="write what was found as JSON when the program ends (with --watch)",
        )
        parser.add_argument(
            "--watch-share",
            type=_share,
            metavar="PERCENT",
            help=f"time that the watch may take (with --watch; default {DEFAULT_SHARE}, at most"
            f" {MAX_SHARE:g})",
        )
        parser.add_argument(
            "--watch-cache",
            type=positive,
            metavar="BYTES",
            help="size of the last-level cache (with --watch; default: as the kernel reports it)",
        )
        parser.add_argument(
            "--colours",
            type=_colours,
            metavar="FIRST-LAST/TOTAL",
            help="confine groups to page frames of these colours, such as 0-31/256, instead of a"
            " small part of memory (with --watch; needs root)",
        )
        parser.add_argument(
            "--print-env",
            action="store_true",
            help="print the environment variables that have the same effect, and run nothing",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        _check_options(options)
        target = None
        if rest or not options.print_env:
            name, arguments = the_program(rest, self.name)
            target = find_target(name, settings.environment, arguments)
        stale = _is_stale(settings, options, target, rest[1:])
        allocator = _allocator(options)
        runtime = settings.checking_runtime if options.check else settings.runtime
        check_library("checking runtime" if options.check else "runtime", runtime)
        plan = options.plan
        if plan is not None and not options.check:
            from halo.plan.runtimes import runtime_of

            check_library("runtime", runtime_of(runtime, plan))
        if options.check and plan is None:
            plan = _plan_of_all_objects(target.path if target else None)
        watch = None if stale or plan is None else _watch(options, plan)
        beside = settings.watch if watch is not None else None
        if beside is not None:
            check_library("library of the watch", beside)
        environment = _environment(settings, runtime, plan, allocator, beside)
        more = watch.variables() if watch is not None else {}
        environment |= more
        if options.recordable:
            check_library("recorder", settings.native_guest)
            environment = preload(environment, [settings.native_guest]) | RECORDABLE
        if options.print_env or target is None:
            names = ("LD_PRELOAD", PLAN_VARIABLE, *allocator.variables, *more, *RECORDABLE)
            for variable in names:
                if variable in environment:
                    print(f"{variable}={shlex.quote(environment[variable])}")
            return 0
        if not stale:
            warn_of_deep_binding(settings, target.path)
        if beside is not None and (reason := watch_refusal(beside)):
            say(f"halo: The program runs under its plan without a watch: {reason}.")
        become(str(target.path), rest, environment)


def _environment(
    settings: Settings, runtime: Path, plan: Path | None, allocator: Allocator, beside: Path | None
) -> dict[str, str]:
    if plan is None:
        return alone(settings.environment, allocator)
    from halo.plan.runtimes import under_plan

    return under_plan(settings.environment, runtime, plan, allocator, beside)


def _allocator(options: argparse.Namespace) -> Allocator:
    """The one asked for, or that of the plan; glibc's if that one is not here."""
    from halo.plan import read_plan
    from halo.plan.updates import chosen_allocator

    if options.allocator is not None or options.plan is None:
        return find_allocator(options.allocator or GLIBC)
    try:
        return find_allocator(chosen_allocator(options.plan, read_plan(options.plan)) or GLIBC)
    except MissingPart as error:
        say(f"halo: {options.plan} was kept over another allocator than glibc: {error}")
        return find_allocator(GLIBC)


def _check_options(options: argparse.Namespace) -> None:
    if options.plan is None and not options.check and not options.recordable:
        raise UsageError("`halo exec` needs a plan: give it with --plan PLAN.")
    if options.plan is None and options.check and options.print_env:
        raise UsageError("`halo exec --check --print-env` needs a plan: give it with --plan PLAN.")
    for option in ("watch_report", "watch_share", "watch_cache", "colours"):
        if getattr(options, option) is not None and not options.watch:
            name = option.replace("_", "-")
            raise UsageError(f"`halo exec --{name}` needs --watch.")


def _is_stale(
    settings: Settings, options: argparse.Namespace, target: Target | None, arguments: Sequence[str]
) -> bool:
    """Whether the plan has no effect on the program, of which a sentence then tells the user.

    Raises `BadPlan` if the plan is unusable, and with `--stale fail` if it is stale.
    """
    from halo.plan.build_match import StalePlan, check_plan

    if options.plan is None:
        return False
    try:
        program = target.path if target else None
        check_plan(options.plan, program, arguments, halo=settings.command)
    except StalePlan as stale:
        if options.stale == "fail":
            raise
        say(f"halo: {stale.without_effect}")
        return True
    return False


def _watch(options: argparse.Namespace, plan: Path) -> Watch | None:
    from halo.plan import read_plan

    if not options.watch:
        return None
    if all(group.spans is None for group in read_plan(plan).groups):
        raise UsageError(
            f"{plan} has no group with spans, which are what is watched; make a plan with:"
            " halo plan --strategy confine"
        )
    share = options.watch_share or DEFAULT_SHARE
    cache, colours = options.watch_cache or 0, str(options.colours or "")
    return Watch(options.watch_report, share, cache, colours)


def _colours(text: str) -> ColourRange:
    try:
        return parse_colours(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= MAX_SHARE:
        sentence = f"not a share between 0 and {MAX_SHARE:g} per cent: {text}"
        raise argparse.ArgumentTypeError(sentence)
    return share


def _plan_of_all_objects(program: Path | None) -> Path:
    """A temporary file with a plan that groups every small object of the program."""
    from halo.binary.elf import ElfError, build_id_of
    from halo.plan import PlanGroup, PlanModule, drawing_plan
    from halo.plan.compact import encode

    try:
        build_id = build_id_of(program) if program is not None else ""
    except (ElfError, OSError):
        build_id = ""
    module = PlanModule(build_id) if build_id else None
    plan = drawing_plan([PlanGroup(huge_pages=False, reuse=0)], LARGEST_CHECKED, 16, module)
    file = os.memfd_create("halo-check.plan", 0)
    os.write(file, encode(plan))
    return Path(f"/proc/self/fd/{file}")
