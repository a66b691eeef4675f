"""`halo study eval baseline`: measures a program under the baseline allocators, without halo."""

from __future__ import annotations

import argparse
from functools import partial

from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.cli.shared.measuring_options import (
    add_litter_option,
    add_measuring_options,
    add_more_allocators_option,
    add_stream_options,
    job_of,
)
from halo.cli.shared.program import input_file, the_program
from halo.cli.shared.repeat import again

COMMAND = "eval baseline"


class BaselineCommand:
    name = "baseline"
    summary = "Measure a program under the baseline allocators only."
    usage = "halo study eval baseline [OPTIONS] -- PROG ARGS"
    examples = ("halo study eval baseline --trials 15 -- jq . large.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_measuring_options(parser)
        add_stream_options(parser)
        add_litter_option(parser)
        add_more_allocators_option(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.cli.shared.measurement import (
            check_failures,
            check_options,
            measure_program,
            write_summary,
        )
        from halo.measure.inputs.roles import only
        from halo.measure.results import summarize_findings
        from halo.measure.runs.job import redirection
        from halo.measure.table import remedy, show, under_allocator

        name, arguments = the_program(rest, COMMAND)
        target = find_target(name, settings.environment, arguments)
        job = job_of(options, target, arguments, input_file(options.stdin))
        check_options(settings, options, whole=False)
        findings, folder = measure_program(
            settings, options, target.path.name, only(job), options.results, plans=False
        )
        write_summary([summarize_findings(findings)], options.json)
        check_failures([findings])
        show([findings])
        print(f"Results: {folder}")
        if step := under_allocator(findings, job.command):
            print(f"Next: {step}{redirection(job)}")
        else:
            repeat = partial(again, settings.command, options, rest)
            print(f"Next: {remedy(findings, settings.command, folder, repeat)}")
        return 0
