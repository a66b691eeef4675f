"""`halo simulate`: what a program misses in caches and TLBs, without performance counters."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from halo.commands.program import check_runtime, natural, the_program
from halo.foreground import end_like
from halo.producers.registry import ENGINES, find_producer
from halo.progress import ProgressLines
from halo.settings import Settings
from halo.target import find_target


class SimulateCommand:
    name = "simulate"
    summary = "Say what a program misses in simulated caches and TLBs, with or without a plan."
    usage = (
        "halo simulate [--plan PLAN] [--allocator NAME|PATH] [--machine FILE] [--json FILE]"
        " [--engine NAME] [--rows N] -- PROG ARGS"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--plan", type=Path, metavar="PLAN", help="run under this plan")
        parser.add_argument(
            "--allocator",
            default="glibc",
            metavar="NAME",
            help="what serves the program, or what the plan does not name (default: glibc)",
        )
        parser.add_argument(
            "--machine",
            type=Path,
            metavar="FILE",
            help="caches and TLBs to simulate (default: as this machine's)",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it to FILE")
        parser.add_argument(
            "--engine",
            choices=[engine.name for engine in ENGINES],
            metavar="NAME",
            help="what runs it: "
            + " or ".join(engine.name for engine in ENGINES)
            + " (default: the first that works here)",
        )
        parser.add_argument(
            "--rows",
            type=natural,
            default=10,
            metavar="N",
            help="contexts and places in the code to show (default: %(default)s)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.allocators import find_allocator
        from halo.destination import check_place
        from halo.matching import check_plan
        from halo.producers.simulating import simulate
        from halo.simulation import (
            Setting,
            machine_text,
            show_simulation,
            simulation_document,
        )
        from halo.trials.results import write_json

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        if options.json is not None:
            check_place(options.json)
        if options.plan is not None:
            check_plan(options.plan, target.path)
            check_runtime(settings)
        setting = Setting(
            allocator=find_allocator(options.allocator),
            plan=options.plan,
            machine=machine_text(options.machine) if options.machine else "",
        )

        def follow(path: Path) -> Callable[[], None]:
            return ProgressLines(path).tick

        engine = find_producer(settings, options.engine)
        simulated = simulate(engine, settings, target, arguments, setting, follow)
        show_simulation(simulated, options.rows)
        if options.json is not None:
            write_json(simulation_document(simulated, setting), options.json)
        return end_like(simulated.ending)
