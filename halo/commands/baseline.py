"""`halo baseline`: measures a program under the four allocators, without halo."""

from __future__ import annotations

import argparse

from halo.commands.program import (
    add_litter_option,
    add_measuring_options,
    add_stream_options,
    input_file,
    job_of,
    the_program,
)
from halo.settings import Settings
from halo.target import find_target


class BaselineCommand:
    name = "baseline"
    summary = "Measure a program under the four allocators alone."
    usage = "halo baseline [OPTIONS] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_measuring_options(parser)
        add_stream_options(parser)
        add_litter_option(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.commands.measuring import check_failures, check_options, study, write_summary
        from halo.trials.results import summarize_findings
        from halo.trials.table import show

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        job = job_of(options, target, arguments, input_file(options.stdin))
        check_options(settings, options, whole=False)
        findings, folder = study(settings, options, target.path.name, job)
        write_summary([summarize_findings(findings)], options.json)
        check_failures([findings])
        show([findings])
        print(f"Results: {folder}")
        return 0
