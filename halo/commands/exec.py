"""`halo exec`: becomes the program, under a plan."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from halo.commands.shared.program import (
    add_allocator_option,
    check_library,
    the_program,
    warn_of_deep_binding,
)
from halo.errors import UsageError
from halo.process.allocators import find_allocator, under_plan
from halo.process.foreground import become
from halo.process.target import find_target
from halo.settings import Settings

LARGEST_CHECKED = 1 << 16  # bytes: the largest object that a plan can place


class ExecCommand:
    name = "exec"
    summary = "Run a program under a plan, in place of halo's own process."
    usage = "halo exec [OPTIONS] --plan PLAN -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan",
            type=Path,
            metavar="PLAN",
            help="plan in its compact form; may be left out with --check",
        )
        add_allocator_option(parser, "allocator of the objects that the plan does not place")
        parser.add_argument(
            "--check",
            action="store_true",
            help="use the checking runtime, which reports misuse of freed memory on standard"
            " error; without a plan it checks all objects up to 64 KiB",
        )
        parser.add_argument(
            "--print-env",
            action="store_true",
            help="print the environment variables that have the same effect, and run nothing",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.plan.build_match import check_plan

        _check_options(options)
        target = None
        if rest or not options.print_env:
            target = find_target(the_program(rest, self.name)[0], settings.environment)
        if options.plan is not None:
            check_plan(options.plan, target.path if target else None)
        allocator = find_allocator(options.allocator)
        runtime = settings.checking_runtime if options.check else settings.runtime
        check_library("checking runtime" if options.check else "runtime", runtime)
        plan = options.plan or _plan_of_all_objects(target.path if target else None)
        environment = under_plan(settings.environment, runtime, plan, allocator)
        if options.print_env or target is None:
            for variable in ("LD_PRELOAD", "HALO_PLAN"):
                print(f"{variable}={shlex.quote(environment[variable])}")
            return 0
        warn_of_deep_binding(settings, target.path)
        become(str(target.path), rest, environment)


def _check_options(options: argparse.Namespace) -> None:
    if options.plan is None and not options.check:
        raise UsageError("`halo exec` needs a plan: give it with --plan PLAN.")
    if options.plan is None and options.print_env:
        raise UsageError("`halo exec --check --print-env` needs a plan: give it with --plan PLAN.")


def _plan_of_all_objects(program: Path | None) -> Path:
    """A temporary file with a plan that groups every small object of the program."""
    from halo.elf import ElfError, build_id_of
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
