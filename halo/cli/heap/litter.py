"""`halo study heap litter`: runs a program on an aged heap."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from halo.base.errors import LitterFailed, UsageError
from halo.base.files.atomic import copy_file
from halo.base.files.scratch import scratch_folder
from halo.base.settings import Settings
from halo.binary.process.allocators import PLAN_VARIABLE
from halo.binary.process.foreground import end_like, run_in_foreground
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.measuring_options import add_litter_settings
from halo.cli.shared.options import add_allocator_option
from halo.cli.shared.program import check_library, chosen_environment, the_program

COMMAND = "heap litter"


class LitterCommand:
    name = "litter"
    summary = "Run a program on a heap that is aged with the sizes of its allocations."
    usage = "halo study heap litter [OPTIONS] -- PROG ARGS"
    examples = ("halo study heap litter --data jq.sizes --occupancy 0.8 -- jq . large.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--data",
            type=Path,
            default=Path("detector.out"),
            metavar="FILE",
            help="file written by `halo study heap detect` (default %(default)s)",
        )
        parser.add_argument(
            "--occupancy",
            default="0.95",
            metavar="FRACTION",
            help="fraction of the littered objects that stay, 0 to 1 (default %(default)s)",
        )
        add_litter_settings(parser, "20")
        parser.add_argument(
            "--sleep",
            default="0",
            metavar="SECONDS",
            help="pause before the program, fractions allowed (default %(default)s)",
        )
        parser.add_argument("--log", type=Path, metavar="FILE", help="write a log as JSON")
        parser.add_argument("--plan", type=plan_argument, metavar="PLAN", help="plan to run under")
        parser.add_argument(
            "--groups",
            action="store_true",
            help="also litter the plan's groups; needs data of `halo study heap detect --plan`",
        )
        add_allocator_option(parser, "allocator whose heap is aged")
        parser.add_argument(
            "--print-env",
            action="store_true",
            help="print the environment variables that have the same effect, and run nothing",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.measure.aging import Litter, read_detection, read_log
        from halo.measure.aging.litter import multiplier, occupancy, seconds, seed

        name, arguments = the_program(rest, COMMAND)
        target = find_target(name, settings.environment, arguments)
        litter = Litter(
            occupancy(options.occupancy),
            multiplier(options.multiplier),
            None if options.seed is None else seed(options.seed),
            not options.no_shuffle,
            options.groups,
            options.data,
        )
        if litter.groups and options.plan is None:
            raise UsageError("--groups litters the groups of a plan: give it with --plan.")
        pause = {"HALO_LITTER_SLEEP": repr(seconds(options.sleep))}
        if options.log is not None:
            check_place(options.log)
        check_library("litterer", settings.litterer)
        if litter.multiplier:
            found = read_detection(options.data)
            if found.program != os.path.realpath(target.path):
                note = f"{options.data} has the sizes of {found.program}, not of {target.path}."
                print(f"halo: note: {note}", file=sys.stderr)
        environment = chosen_environment(settings, target.path, options.allocator, options.plan)
        if options.print_env:
            log = options.log or Path("litter.json")
            aged = litter.environment(environment, settings.litterer, target.path, log)
            _print_environment({**aged, **pause})
            return 0
        with scratch_folder() as logs:
            aged = litter.environment(
                environment, settings.litterer, target.path, logs / "%p", quiet=False
            )
            ending = run_in_foreground(str(target.path), rest, {**aged, **pause}, lambda: None)
            log = logs / str(ending.pid)
            failed = log.exists() and not _is_aged(log, target.name)
            if options.log is not None and log.exists():
                copy_file(log, options.log)
            if not (ending.signal or failed):
                read_log(log, target.name)
        if failed and not ending.signal:
            return LitterFailed.exit_status  # the litterer has printed the reason
        return end_like(ending)


def _is_aged(log: Path, name: str) -> bool:
    from halo.measure.aging import read_log

    try:
        read_log(log, name)
    except LitterFailed:
        return False
    return True


def _print_environment(environment: Mapping[str, str]) -> None:
    """Prints the variables that differ from a plain run, except the one that silences the log."""
    for variable, value in environment.items():
        ours = variable.startswith("HALO_LITTER_") or variable in ("LD_PRELOAD", PLAN_VARIABLE)
        if ours and variable != "HALO_LITTER_QUIET":
            print(f"{variable}={shlex.quote(value)}")
