"""`halo exec`: becomes the program, under a plan."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from halo.allocators import find_allocator, under_plan
from halo.commands.program import check_runtime, the_program, warn_of_deep_binding
from halo.foreground import become
from halo.settings import Settings
from halo.target import find_target


class ExecCommand:
    name = "exec"
    summary = "Become the program, with its heap objects placed by a plan."
    usage = "halo exec --plan PLAN [--allocator NAME|PATH] [--print-env] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--plan", type=Path, required=True, metavar="PLAN")
        parser.add_argument(
            "--allocator",
            default="glibc",
            metavar="NAME",
            help="serves all that the plan does not name: glibc (default), jemalloc, mimalloc,"
            " tcmalloc or the path of a library",
        )
        parser.add_argument(
            "--print-env",
            action="store_true",
            help="only print the two environment variables that do the same by hand",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.matching import check_plan

        target = None
        if rest or not options.print_env:
            target = find_target(the_program(rest, self.name)[0], settings.environment)
        check_plan(options.plan, target.path if target else None)
        allocator = find_allocator(options.allocator)
        check_runtime(settings)
        environment = under_plan(settings.environment, settings.runtime, options.plan, allocator)
        if options.print_env or target is None:
            for variable in ("LD_PRELOAD", "HALO_PLAN"):
                print(f"{variable}={shlex.quote(environment[variable])}")
            return 0
        warn_of_deep_binding(settings, target.path)
        become(str(target.path), rest, environment)
