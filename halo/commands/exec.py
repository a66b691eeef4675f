"""`halo exec`: becomes the program, under a plan."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from halo.allocators import find_allocator, under_plan
from halo.commands.program import check_library, the_program, warn_of_deep_binding
from halo.errors import UsageError
from halo.foreground import become
from halo.settings import Settings
from halo.target import find_target

LARGEST_CHECKED = 1 << 16  # bytes: the largest object that a plan can place


class ExecCommand:
    name = "exec"
    summary = "Become the program, with its heap objects placed by a plan."
    usage = "halo exec --plan PLAN [--allocator NAME|PATH] [--check] [--print-env] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan", type=Path, metavar="PLAN", help="the compact form; only --check needs none"
        )
        parser.add_argument(
            "--allocator",
            default="glibc",
            metavar="NAME",
            help="serves all that the plan does not name: glibc (default), jemalloc, mimalloc,"
            " tcmalloc or the path of a library",
        )
        parser.add_argument(
            "--check",
            action="store_true",
            help="under the checking runtime, which says on standard error what is freed wrongly"
            " or written to after it was freed; without a plan, of all small objects",
        )
        parser.add_argument(
            "--print-env",
            action="store_true",
            help="only print the two environment variables that do the same by hand",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.matching import check_plan

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
    """A plan that groups every small object of the program: a file that exists as long as it."""
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
