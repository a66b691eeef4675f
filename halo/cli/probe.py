"""`halo probe`: says in about a minute whether a program is placement-sensitive."""

from __future__ import annotations

import argparse

from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.cli.shared.measuring_options import add_cpu_option, add_stream_options, check_cpu, job_of
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import add_json_option
from halo.cli.shared.program import (
    check_runtime,
    input_file,
    plain_environment,
    the_program,
    warn_of_deep_binding,
)
from halo.cli.shared.results import default_folder


class ProbeCommand:
    name = "probe"
    summary = "Test whether a program is placement-sensitive, without recording it."
    usage = "halo probe [OPTIONS] -- PROG ARGS"
    examples = ("halo probe -- xsltproc style.xsl input.xml",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--seconds",
            type=positive,
            default=60,
            metavar="N",
            help="time budget in seconds; at least seven rounds are run (default %(default)s)",
        )
        add_json_option(parser, "the summary")
        add_cpu_option(parser)
        add_stream_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.measure.probe import ProbeOptions, probe
        from halo.measure.probe_report import show_probe, summarize_probe
        from halo.measure.reporter import Reporter
        from halo.measure.runs.wrappers import refuse_known_launcher
        from halo.ship.doctor.native import native_allocator

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment, arguments)
        refuse_known_launcher(target, arguments, settings.environment)
        job = job_of(options, target, arguments, input_file(options.stdin))
        check_cpu(options.cpu)
        if options.json is not None:
            check_place(options.json)
        check_runtime(settings)
        warn_of_deep_binding(settings, target.path)
        chosen = ProbeOptions(
            options.seconds,
            plain_environment(settings),
            default_folder(target.path.name).absolute(),
            options.cpu,
            native_allocator(target.path, plain_environment(settings)),
        )
        reporter = Reporter(target.path.name)
        try:
            found = probe(settings, job, chosen, reporter)
        finally:
            reporter.clear()
        if options.json is not None:
            write_json(summarize_probe(found, job), options.json)
        show_probe(found, job, options.seconds, settings.command, options.cpu)
        return found.answer.value
