"""`halo study eval simulate`: a program's caches and TLBs, without performance counters."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.binary.process.foreground import end_like
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.numbers import natural, up_to
from halo.cli.shared.options import (
    add_allocator_option,
    add_engine_option,
    add_json_option,
    add_machine_option,
    machine_of,
)
from halo.cli.shared.program import check_runtime, the_program
from halo.record.parts import MAX_TRACED, Limits
from halo.record.progress import ProgressLines
from halo.record.registry import find_producer

COMMAND = "eval simulate"


class SimulateCommand:
    name = "simulate"
    summary = "Simulate the cache and TLB misses of a program, with or without a plan."
    usage = "halo study eval simulate [OPTIONS] -- PROG ARGS"
    examples = ("halo study eval simulate --plan jq.plan -- jq . small.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan",
            type=plan_argument,
            metavar="PLAN",
            help="plan to run under; contexts are then not followed",
        )
        add_allocator_option(parser, "allocator, with a plan that of the objects it does not place")
        add_machine_option(parser)
        parser.add_argument(
            "--classes",
            action="store_true",
            help="divide misses of the first cache into compulsory, capacity and conflict misses;"
            " nothing is prefetched",
        )
        parser.add_argument(
            "--sweep",
            action="store_true",
            help="also simulate caches of 8 to 1024 KiB with 1, 2, 4 and 8 ways, for tracked"
            " objects and all other memory; the result is only in --json",
        )
        parser.add_argument(
            "--max-object",
            type=up_to(MAX_TRACED),
            metavar="BYTES",
            help="size of the largest object to track; the memory of larger ones counts as outside"
            f" (default {Limits.max_object}, at most {MAX_TRACED})",
        )
        add_json_option(parser)
        add_engine_option(parser)
        parser.add_argument(
            "--rows",
            type=natural,
            default=10,
            metavar="N",
            help="number of contexts and of code places to print (default %(default)s)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.binary.process.allocators import find_allocator
        from halo.measure.runs.simulated_run import simulate
        from halo.plan.build_match import check_plan
        from halo.record.simulation import (
            SimulatedLayout,
            prefetches,
            show_simulation,
            simulation_document,
        )

        name, arguments = the_program(rest, COMMAND)
        _check(options)
        target = find_target(name, settings.environment, arguments)
        if options.json is not None:
            check_place(options.json)
        if options.plan is not None:
            check_plan(options.plan, target.path, arguments, halo=settings.command)
            check_runtime(settings)
        setting = SimulatedLayout(
            allocator=find_allocator(options.allocator),
            plan=options.plan,
            machine=machine_of(options),
            classes=options.classes,
            sweep=options.sweep,
            max_object=options.max_object or 0,
        )
        if setting.classes and prefetches(setting.machine):
            raise UsageError(
                "--classes needs a machine without prefetching: remove prefetch from"
                f" {options.machine}, or leave out --classes."
            )

        def follow(path: Path) -> Callable[[], None]:
            return ProgressLines(path).tick

        engine = find_producer(settings, options.engine, everything=True)
        simulated = simulate(engine, settings, target, arguments, setting, follow)
        show_simulation(simulated, options.rows)
        if options.json is not None:
            write_json(simulation_document(simulated, setting), options.json)
        return end_like(simulated.ending)


def _check(options: argparse.Namespace) -> None:
    """UsageError if options contradict each other."""
    for option in ("sweep", "max_object"):
        if options.plan is not None and getattr(options, option):
            raise UsageError(
                f"--{option.replace('_', '-')} needs tracked objects, and under a plan none are"
                " tracked; leave out one of the two."
            )
    if options.sweep and options.json is None:
        raise UsageError("--sweep writes its result with --json FILE; add it.")
