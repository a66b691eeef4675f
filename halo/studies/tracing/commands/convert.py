"""`halo study trace convert`: turns a trace into Parquet files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.options import add_machine_option
from halo.cli.shared.program import the_program


class ConvertCommand:
    name = "convert"
    summary = "Convert a trace to a dataset: a folder of Parquet files for the analyses."
    usage = (
        "halo study trace convert [OPTIONS] TRACE... | halo study trace convert [OPTIONS]"
        " --live FOLDER --"
        " PROG ARGS"
    )
    examples = ("halo study trace convert -o prog.columns prog.trace",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "traces",
            nargs="*",
            metavar="TRACE",
            help="traces of processes of one build; - for standard input",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FOLDER",
            help="folder to write, new or empty (default: TRACE.columns in the current folder)",
        )
        add_machine_option(parser)
        parser.add_argument(
            "--no-simulation",
            action="store_true",
            help="simulate no caches and TLBs, so that no access counts as a miss",
        )
        parser.add_argument(
            "--live",
            type=Path,
            metavar="FOLDER",
            help="run PROG, an instrumented program, and write FOLDER while it runs",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.studies.tracing.columns import convert, default_folder
        from halo.studies.tracing.machines import machine_of

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
                "halo: Misses were not simulated, so `halo study trace offenders` will show none.",
                file=sys.stderr,
            )
        for sentence in conversion.sentences:
            print(f"halo: {sentence}", file=sys.stderr)
        return 0

    def _live(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.binary.process.foreground import end_like
        from halo.binary.process.target import find_target
        from halo.studies.tracing.live import run_live
        from halo.studies.tracing.run import check_instrumented

        if options.traces or options.output:
            raise UsageError("--live runs a program and takes no TRACE and no -o.")
        name, arguments = the_program(rest, "trace convert --live FOLDER")
        target = find_target(name, settings.environment, arguments)
        check_instrumented(target)
        simulation = ["--no-simulation"] if options.no_simulation else []
        if options.machine is not None:
            simulation += ["--machine", str(options.machine)]
        return end_like(run_live(settings, target, arguments, options.live, simulation))
