"""`halo trace`: runs an instrumented program and leaves its trace."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from halo.commands.program import the_program
from halo.errors import RecordingFailed
from halo.foreground import end_like
from halo.settings import Settings
from halo.target import find_target


class TraceCommand:
    name = "trace"
    summary = "Run a program that halo-cc or halo-c++ has built, and write its trace."
    usage = "halo trace [-o TRACE] [--text | --none] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o", "--output", type=Path, metavar="TRACE", help="default: PROG.trace here"
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--text", action="store_true", help="a line an event, for people")
        form.add_argument(
            "--none", action="store_true", help="write nothing, to measure what tracing costs"
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.destination import check_place
        from halo.tracing.left import describe, look_at
        from halo.tracing.running import Drafts, check_instrumented, run_traced, trace_file

        target = find_target(the_program(rest, self.name)[0], settings.environment)
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
            left = look_at(output, text=options.text)
            line = describe(left, len(traces) - 1, killed=bool(ending.signal))
            print(f"halo: {line}", file=sys.stderr)
        status = end_like(ending)
        if not traces:
            raise RecordingFailed(
                f"{target.name} ended before it could begin a trace, so {output} was not written."
            )
        return status
