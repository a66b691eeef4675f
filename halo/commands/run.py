"""`halo run`: record, plan, choose and measure an unmodified program."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.shared.program import (
    add_choosing_options,
    add_litter_option,
    add_measuring_options,
    add_stream_options,
    input_file,
    job_of,
    one_or_two_programs,
    two_programs,
    warn_of_deep_binding,
)
from halo.commands.shared.repeat import again
from halo.errors import UsageError
from halo.process.target import find_target
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.trials.runs.job import Job


class RunCommand:
    name = "run"
    summary = "Record a program, make plans, choose the best and measure it."
    usage = (
        "halo run [OPTIONS] -- PROG TRAIN-ARGS -- PROG REF-ARGS |"
        " halo run [OPTIONS] --load SCRIPT -- PROG ARGS"
    )
    examples = (
        "halo run -- jq . small.json -- jq . large.json",
        "halo run --results jq-run -- jq . small.json -- jq . large.json",
    )

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
        parser.add_argument(
            "--train",
            type=_arguments,
            action="append",
            default=[],
            metavar="'ARGS'",
            help="arguments of a further training input, quoted as one word; repeatable",
        )
        parser.add_argument(
            "--train-load",
            metavar="SCRIPT",
            help="load of the training runs of a service (default: that of --load)",
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
        from halo.trials.runs.job import redirection
        from halo.trials.runs.wrappers import refuse_known_launcher
        from halo.trials.table import next_step, remedy, show

        if options.train_load is not None and options.load is None:
            raise UsageError("--train-load needs --load SCRIPT, the load of the reference runs.")
        split = two_programs if options.load is None else one_or_two_programs
        name, train, reference = split(rest)
        target = find_target(name, settings.environment, train)
        refuse_known_launcher(target, train, settings.environment)
        stdin = input_file(options.stdin)
        first = input_file(options.train_stdin) or stdin
        jobs = (
            job_of(options, target, train, first, options.train_load),
            job_of(options, target, reference, stdin),
        )
        more = [
            job_of(options, target, arguments, first, options.train_load)
            for arguments in options.train
        ]
        _check_training(options, [jobs[0], *more])
        check_options(settings, options, whole=True)
        warn_of_deep_binding(settings, target.path)
        findings, folder = measure_program(
            settings, options, target.path.name, jobs[1], options.results, jobs[0], more=more
        )
        write_summary([summarize_findings(findings)], options.json)
        check_failures([findings])
        show([findings])
        print(f"Results: {folder}")
        step = next_step(findings, settings.command, folder, [name, *reference])
        if not step:
            repeat = partial(again, settings.command, options, rest)
            step = remedy(findings, settings.command, folder, jobs[1], repeat, options.cpu)
            print(f"Next: {step}")
        else:
            after = redirection(jobs[1])
            print(f"Next: {step}{after}")
            lines = next_lines(settings.command, folder, settings.runtime, [name, *reference])
            if lines is not None:
                print(f"Deploy: {lines[0]}")
            if lines is not None and findings.kept is not None and findings.kept.plan is not None:
                print(f"Or paste: {lines[1]}{after}")
        return 0


def _arguments(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a list of arguments ({str(error).lower()})"
        ) from error


def _check_training(options: argparse.Namespace, jobs: Sequence[Job]) -> None:
    """Refuses training inputs that are the same, and options that need the trace of one run."""
    if len(set(jobs)) < len(jobs):
        raise UsageError(
            "Two training inputs are the same; give --train only the arguments of further ones."
        )
    traced = [name for name in ("search", "hints", "confine") if getattr(options, name)]
    if len(jobs) > 1 and traced:
        raise UsageError(
            f"--{traced[0]} plans from the trace of one run, so it cannot have several training"
            " inputs; leave out --train."
        )
