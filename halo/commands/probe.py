"""`halo probe`: says in about a minute whether a program cares where its objects lie."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from halo.commands.program import (
    check_cpu,
    check_runtime,
    input_file,
    natural,
    plain_environment,
    positive,
    the_program,
)
from halo.commands.run import add_stream_options
from halo.settings import Settings
from halo.target import find_target


class ProbeCommand:
    name = "probe"
    summary = "Say whether a program cares where its objects lie, before anything is recorded."
    usage = "halo probe [OPTIONS] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--seconds",
            type=positive,
            default=60,
            metavar="N",
            help="how long to measure; at least five rounds in any case (default: %(default)s)",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary to FILE")
        parser.add_argument(
            "--cpu", type=natural, metavar="N", help="run the trials on processor N only"
        )
        add_stream_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.planning import check_place
        from halo.trials.job import Job
        from halo.trials.probe_report import show_probe, summarize_probe
        from halo.trials.probing import ProbeOptions, probe
        from halo.trials.reporter import Reporter
        from halo.trials.results import write_json

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        compared = tuple(path.absolute() for path in options.compare)
        job = Job(target, tuple(arguments), input_file(options.stdin), compared)
        check_cpu(options.cpu)
        if options.json is not None:
            check_place(options.json)
        check_runtime(settings)
        now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        chosen = ProbeOptions(
            options.seconds,
            plain_environment(settings),
            Path("results", f"{target.path.name}-{now}").absolute(),
            options.cpu,
        )
        reporter = Reporter(target.path.name)
        try:
            found = probe(settings, job, chosen, reporter)
        finally:
            reporter.clear()
        if options.json is not None:
            write_json(summarize_probe(found, job), options.json)
        show_probe(found, job, options.seconds, settings.command)
        return found.answer.value
