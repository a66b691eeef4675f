"""`halo run`: record, plan, choose and measure an unmodified program."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from halo.commands.shared.program import (
    add_choosing_options,
    add_litter_option,
    add_measuring_options,
    add_stream_options,
    input_file,
    job_of,
    two_programs,
    warn_of_deep_binding,
)
from halo.process.target import find_target
from halo.settings import Settings


class RunCommand:
    name = "run"
    summary = "Record a program, make plans, choose the best and measure it."
    usage = "halo run [OPTIONS] -- PROG TRAIN-ARGS -- PROG REF-ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_measuring_options(parser)
        add_choosing_options(parser)
        add_stream_options(parser)
        add_litter_option(parser)
        parser.add_argument(
            "--train-stdin",
            type=Path,
            metavar="FILE",
            help="standard input of the training runs (default: that of --stdin)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.commands.shared.measurement import (
            check_failures,
            check_options,
            measure_program,
            write_summary,
        )
        from halo.deployment.next_lines import next_lines
        from halo.trials.results import summarize_findings
        from halo.trials.runs.wrappers import refuse_known_wrapper
        from halo.trials.table import next_step, show

        name, train, reference = two_programs(rest)
        target = find_target(name, settings.environment)
        refuse_known_wrapper(target, train, settings.environment)
        stdin = input_file(options.stdin)
        first = input_file(options.train_stdin) or stdin
        jobs = (job_of(options, target, train, first), job_of(options, target, reference, stdin))
        check_options(settings, options, whole=True)
        warn_of_deep_binding(settings, target.path)
        findings, folder = measure_program(
            settings, options, target.path.name, jobs[1], options.results, train=jobs[0]
        )
        write_summary([summarize_findings(findings)], options.json)
        check_failures([findings])
        show([findings])
        print(f"Results: {folder}")
        step = next_step(findings, settings.command, folder, [name, *reference])
        if step:
            redirection = f" <{shlex.quote(str(stdin))}" if stdin else ""
            print(f"Next: {step}{redirection}")
            lines = next_lines(settings.command, folder, settings.runtime, [name, *reference])
            if lines is not None:
                print(f"Deploy: {lines[0]}\nOr paste: {lines[1]}{redirection}")
        return 0
