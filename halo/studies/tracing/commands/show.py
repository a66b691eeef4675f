"""`halo study trace show`: a trace's contents as JSON, or its events as text."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path

from halo.base.console.outcome import BROKEN_PIPE
from halo.base.errors import BadInput, BadTrace, HaloError
from halo.base.settings import Settings
from halo.studies.tracing.analysis_options import check_no_program

COMMAND = "trace show"


class ShowCommand:
    name = "show"
    summary = "Print the contents of a trace as JSON, or its events as text."
    usage = "halo study trace show [OPTIONS] TRACE|-"
    examples = ("halo study trace show --events prog.trace | head",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("trace", metavar="TRACE|-", help="trace file; - for standard input")
        parser.add_argument(
            "--events",
            action="store_true",
            help="print the events instead, one line each, in their order across threads",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.binary.process.native_tool import BAD_TRACE, CANNOT_WRITE
        from halo.studies.tracing.reader import check_reader, check_there

        check_no_program(COMMAND, rest)
        check_reader(settings)
        if options.trace != "-":
            check_there(Path(options.trace))
        verb = "events" if options.events else "info"
        sys.stdout.flush()
        done = subprocess.run(
            [settings.tracer, verb, options.trace],
            env=settings.environment,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode == BAD_TRACE:
            raise BadTrace(f"{options.trace}: {done.stderr.strip()}.")
        sys.stderr.write(done.stderr)
        if done.returncode == -signal.SIGPIPE:
            return BROKEN_PIPE
        if done.returncode == CANNOT_WRITE:
            raise BadInput("The output cannot be written; check the space that is left.")
        if done.returncode:
            raise HaloError(f"{settings.tracer} ended with status {done.returncode}.")
        return 0
