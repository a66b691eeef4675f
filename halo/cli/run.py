"""`halo run`: finds what makes an unmodified program faster, and measures what it gains."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.binary.process.target import Target, find_target
from halo.cli.shared.measuring_options import (
    add_choosing_options,
    add_litter_option,
    add_measuring_options,
    add_stream_options,
    job_of,
)
from halo.cli.shared.program import input_file, one_or_two_programs, warn_of_deep_binding
from halo.cli.shared.repeat import again

if TYPE_CHECKING:
    from halo.measure.inputs.roles import Inputs
    from halo.measure.runs.job import Job


class RunCommand:
    name = "run"
    summary = "Find what makes a program faster: an allocator, a setting or a plan."
    usage = (
        "halo run [OPTIONS] -- PROG ARGS | halo run [OPTIONS] -- PROG RECORDED-ARGS -- PROG ARGS"
    )
    examples = (
        "halo run -- jq . orders.json",
        "halo run --load ./load.sh -- srv 7777",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_measuring_options(parser)
        add_choosing_options(parser)
        add_stream_options(parser)
        add_litter_option(parser)
        add_role(
            parser,
            "--record",
            "arguments of the run that is recorded, quoted as one word, if the measured one is too"
            " slow under the recorder; the same as a first `-- PROG ARGS`",
        )
        add_role(
            parser,
            "--also",
            "arguments of another input, which is recorded, too, and on which a plan must not be"
            " slower than no plan; quoted as one word; repeatable",
            "--train",
        )
        add_role(
            parser,
            "--hold-out",
            "arguments of an input that no decision sees, on which the answer is given; quoted as"
            " one word",
        )
        parser.add_argument(
            "--record-stdin",
            "--train-stdin",
            dest="record_stdin",
            type=Path,
            metavar="FILE",
            help="standard input of the recorded run (default: that of --stdin)",
        )
        parser.add_argument(
            "--record-load",
            "--train-load",
            dest="record_load",
            metavar="SCRIPT",
            help="load of the recorded run of a service (default: that of --load)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.cli.shared.measurement import (
            check_failures,
            check_options,
            measure_program,
            write_summary,
        )
        from halo.measure.results import summarize_findings
        from halo.measure.runs.job import redirection
        from halo.measure.runs.wrappers import refuse_known_launcher
        from halo.measure.table import next_step, remedy, show
        from halo.ship.deployment.next_lines import next_lines

        name, arguments, recorded = one_or_two_programs(rest, self.name)
        target = find_target(name, settings.environment, arguments)
        refuse_known_launcher(target, arguments, settings.environment)
        inputs = _inputs(options, target, arguments, recorded)
        check_options(settings, options, whole=True)
        warn_of_deep_binding(settings, target.path)
        findings, folder = measure_program(
            settings, options, target.path.name, inputs, options.results
        )
        write_summary([summarize_findings(findings)], options.json)
        check_failures([findings])
        show([findings])
        print(f"Results: {folder}")
        used = inputs.measured
        step = next_step(findings, settings.command, folder, [name, *used.arguments])
        after = redirection(used)
        if not step:
            repeat = partial(again, settings.command, options, rest)
            print(f"Next: {remedy(findings, settings.command, folder, repeat)}")
            return 0
        print(f"Next: {step}{after}")
        lines = next_lines(settings.command, folder, settings.runtime, [name, *used.arguments])
        if lines is not None:
            print(f"Deploy: {lines[0]}")
            print(f"Or paste: {lines[1]}{after}")
        return 0


def add_role(parser: argparse.ArgumentParser, name: str, text: str, *other_names: str) -> None:
    """A repeatable option with the arguments of a run in one word."""
    parser.add_argument(
        name,
        *other_names,
        dest=f"{name.strip('-').replace('-', '_')}_arguments",
        type=_arguments,
        action="append",
        default=[],
        metavar="'ARGS'",
        help=text,
    )


def _inputs(
    options: argparse.Namespace,
    target: Target,
    arguments: Sequence[str],
    recorded: Sequence[str] | None,
) -> Inputs:
    """The jobs by their part; refuses combinations that cannot be."""
    from halo.measure.inputs.roles import Inputs

    if options.record_load is not None and options.load is None:
        raise UsageError("--record-load needs --load SCRIPT, the load of the measured runs.")
    given = [*options.record_arguments, *([] if recorded is None else [recorded])]
    if len(given) > 1:
        raise UsageError("The recorded run is given twice; give further ones with --also.")
    if len(options.hold_out_arguments) > 1:
        raise UsageError("--hold-out is given twice, but the answer is given on one input.")
    stdin = input_file(options.stdin)
    first = input_file(options.record_stdin) or stdin

    def recorded_job(its: Sequence[str]) -> Job:
        return job_of(options, target, its, first, options.record_load)

    measured = job_of(options, target, arguments, stdin)
    small = recorded_job(given[0] if given else arguments)
    others = [recorded_job(its) for its in options.also_arguments]
    held_out = options.hold_out_arguments
    answered = job_of(options, target, held_out[0], stdin) if held_out else measured
    inputs = Inputs([small, *others], measured, answered, others)
    _check_roles(options, inputs, bool(held_out))
    return inputs


def _arguments(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a list of arguments ({str(error).lower()})"
        ) from error


def _check_roles(options: argparse.Namespace, inputs: Inputs, holds_out: bool) -> None:
    """Refuses inputs that are given twice, and candidates that need the trace of one run."""
    from halo.cli.shared.measurement import choice_of

    recorded = inputs.recorded
    if len(set(recorded)) < len(recorded):
        raise UsageError("An input of --also is given twice, or is the recorded one; leave it out.")
    if holds_out and not inputs.holds_out:
        raise UsageError("The input of --hold-out is one that decides; give another one.")
    choice_of(options, len(recorded))
