"""`halo columns`: turns a trace into Parquet files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from halo.commands.program import the_program
from halo.errors import UsageError
from halo.settings import Settings


class ColumnsCommand:
    name = "columns"
    summary = "Turn a trace into a folder of Parquet files, which every analysis reads."
    usage = (
        "halo columns [-o FOLDER] [--machine FILE | --no-simulation] TRACE..."
        " | halo columns [--machine FILE | --no-simulation] --live FOLDER -- PROG ARGS"
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "traces", nargs="*", metavar="TRACE", help="of one build; `-` is standard input"
        )
        parser.add_argument(
            "-o", "--output", type=Path, metavar="FOLDER", help="default: TRACE.columns, here"
        )
        parser.add_argument(
            "--machine",
            type=Path,
            metavar="FILE",
            help="caches and TLBs to simulate (default: as this machine's)",
        )
        parser.add_argument(
            "--no-simulation", action="store_true", help="leave out what misses caches"
        )
        parser.add_argument(
            "--live",
            type=Path,
            metavar="FOLDER",
            help="run PROG, an instrumented program, and write files while it runs",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.tracing.columns import convert, default_folder
        from halo.tracing.machines import machine_of

        if options.no_simulation and options.machine is not None:
            raise UsageError("--machine says what to simulate, --no-simulation that nothing is.")
        if options.live is not None:
            return self._live(settings, options, rest)
        if rest or not options.traces:
            raise UsageError("Give the traces to convert, or --live FOLDER -- PROG ARGS.")
        folder = options.output or default_folder(options.traces[0])
        with machine_of(options.machine, options.no_simulation) as machine:
            conversion = convert(settings, options.traces, folder, machine)
        print(f"halo: {folder}: {conversion.accesses} accesses", file=sys.stderr)
        if not machine:
            print(
                "halo: Misses were not simulated, so `halo offenders` will show none.",
                file=sys.stderr,
            )
        for sentence in conversion.sentences:
            print(f"halo: {sentence}", file=sys.stderr)
        return 0

    def _live(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.foreground import end_like
        from halo.target import find_target
        from halo.tracing.live import run_live
        from halo.tracing.running import check_instrumented

        if options.traces or options.output:
            raise UsageError("--live runs a program and takes no TRACE and no -o.")
        name, arguments = the_program(rest, "columns --live FOLDER")
        target = find_target(name, settings.environment)
        check_instrumented(target)
        simulation = ["--no-simulation"] if options.no_simulation else []
        if options.machine is not None:
            simulation += ["--machine", str(options.machine)]
        return end_like(run_live(settings, target, arguments, options.live, simulation))
