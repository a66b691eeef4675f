"""`halo study trace run`: runs an instrumented program and leaves its trace."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.foreground import end_like
from halo.binary.process.target import find_target
from halo.cli.shared.program import the_program

COMMAND = "trace run"


class TraceRunCommand:
    name = "run"
    summary = "Run a program built with halo-cc or halo-c++, and write its trace."
    usage = "halo study trace run [OPTIONS] -- PROG ARGS"
    examples = ("halo study trace run -o prog.trace -- ./prog input",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="TRACE",
            help="trace to write (default: PROG.trace in the current folder)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            "--text", action="store_true", help="write one line of text for each event"
        )
        form.add_argument(
            "--none", action="store_true", help="write nothing, to measure the cost of tracing"
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.studies.tracing.run import Drafts, check_instrumented, run_traced, trace_file
        from halo.studies.tracing.trace_status import describe, inspect_trace

        name, arguments = the_program(rest, COMMAND)
        target = find_target(name, settings.environment, arguments)
        check_instrumented(target)
        if options.none:
            return end_like(run_traced(target, rest, settings.environment, "none"))
        output = options.output or Path(f"{target.path.name}.trace")
        check_place(output)
        drafts = Drafts(trace_file(output))
        drafts.begin()
        request = f"{'text' if options.text else 'file'}:{drafts.path}"
        ending = run_traced(target, rest, settings.environment, request)
        traces = drafts.publish()
        if traces:
            left = inspect_trace(output, text=options.text)
            line = describe(left, len(traces) - 1, killed=bool(ending.signal))
            print(f"halo: {line}", file=sys.stderr)
        status = end_like(ending)
        if not traces:
            raise RecordingFailed(
                f"{target.name} ended before it could begin a trace, so {output} was not written."
            )
        return status
