"""The options of commands that measure a program, and the job that they describe."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import UsageError
from halo.binary.process.target import Target
from halo.cli.shared.numbers import natural, positive
from halo.cli.shared.options import add_json_option, add_sink_option
from halo.cli.shared.service import (
    OF_A_RUN,
    OF_AN_AGED_RUN,
    add_service_options,
    add_timeout_option,
    service_of,
)
from halo.record.sink_options import DISTANCE

if TYPE_CHECKING:
    from halo.measure.runs.job import Job

DEFAULT_TRIALS = 11


def add_measuring_options(
    parser: argparse.ArgumentParser,
    default_trials: str = "7, and more while the answer is open",
) -> None:
    """The options of run, bench, baseline and age; without `--trials` it is 0."""
    parser.add_argument(
        "--trials",
        type=positive,
        default=0,
        metavar="N",
        help=f"number of recorded trials, after a warm-up round (default: {default_trials})",
    )
    add_json_option(parser, "the summary")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="results folder; an interrupted measurement in it is continued (default"
        " results/PROGRAM-TIME)",
    )
    add_cpu_option(parser)


def add_cpu_option(parser: argparse.ArgumentParser) -> None:
    """The option of all that measure."""
    parser.add_argument(
        "--cpu", type=natural, metavar="N", help="processor that runs the trials (default: any)"
    )


def check_cpu(cpu: int | None) -> None:
    """UsageError unless trials may run on that processor."""
    allowed = os.sched_getaffinity(0)
    if cpu is not None and cpu not in allowed:
        names = ", ".join(str(number) for number in sorted(allowed))
        raise UsageError(
            f"Processor {cpu} does not exist, or may not be used; choose among: {names}."
        )


def add_more_allocators_option(parser: argparse.ArgumentParser) -> None:
    """The option of all that compare allocators."""
    parser.add_argument(
        "--allocator",
        dest="more_allocators",
        action="append",
        default=[],
        metavar="PATH",
        help="library of a further allocator to measure; repeatable",
    )


def add_stdin_option(parser: argparse.ArgumentParser) -> None:
    """The option of all that measure a program of the user's."""
    parser.add_argument(
        "--stdin", type=Path, metavar="FILE", help="standard input of every run (default: empty)"
    )


def add_stream_options(parser: argparse.ArgumentParser, aged: bool = False) -> None:
    """Input and output files of the program, its accepted exit statuses, its load.

    Programs on aged heaps are not services. Their runs have no time limit by default.
    """
    add_stdin_option(parser)
    parser.add_argument(
        "--compare",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="file that the program writes, compared like its output; repeatable",
    )
    if aged:
        add_tolerance_options(parser, OF_AN_AGED_RUN)
    else:
        add_tolerance_options(parser)
        add_service_options(parser)


def add_tolerance_options(parser: argparse.ArgumentParser, limited: str = OF_A_RUN) -> None:
    """The options of all that measure: which runs count as failed, or as different."""
    parser.add_argument(
        "--allow-status",
        type=_exit_status,
        action="append",
        default=[],
        metavar="N",
        help="also accept exit status N of the program; repeatable (default: only 0)",
    )
    parser.add_argument(
        "--ignore-output",
        action="store_true",
        help="do not compare standard output, for instance if it contains a time or an address",
    )
    add_timeout_option(parser, limited)
    parser.add_argument(
        "--prepare",
        default="",
        metavar="COMMAND",
        help="shell command before each run, which is not timed: for programs that consume their"
        " input",
    )
    parser.add_argument(
        "--cleanup", default="", metavar="COMMAND", help="shell command after each run, not timed"
    )


def _exit_status(text: str) -> int:
    value = natural(text)
    if value > 255:
        raise argparse.ArgumentTypeError(f"'{text}' is not an exit status (0 to 255)")
    return value


def job_of(
    options: argparse.Namespace,
    target: Target,
    arguments: Sequence[str],
    stdin: Path | None,
    load: str | None = None,
) -> Job:
    """The program on one input, with the options of `add_stream_options`.

    `load` replaces that of `--load`. Raises `BadInput` if it cannot be run.
    """
    from halo.measure.runs.job import Job

    compared = tuple(path.absolute() for path in options.compare)
    service = service_of(options, load)
    return tolerant(options, Job(target, tuple(arguments), stdin, compared, service=service))


def tolerant(options: argparse.Namespace, job: Job) -> Job:
    """The job with the options of `add_tolerance_options`."""
    allowed = frozenset({0, *options.allow_status})
    return replace(
        job,
        allowed=allowed,
        ignore_output=options.ignore_output,
        timeout=options.timeout,
        prepare=options.prepare,
        cleanup=options.cleanup,
    )


def add_litter_option(parser: argparse.ArgumentParser) -> None:
    """The option of run, bench and baseline that ages every trial's heap."""
    parser.add_argument(
        "--litter",
        metavar="SETTINGS",
        help="aged heap for every trial; comma-separated, each optional: occupancy=FRACTION,"
        " multiplier=N, seed=N, shuffle=yes|no, groups=yes|no, data=FILE",
    )


def add_litter_settings(parser: argparse.ArgumentParser, multiplier: str) -> None:
    """Settings of the litterer that litter and age share; the default of one of them."""
    parser.add_argument(
        "--multiplier",
        default=multiplier,
        metavar="N",
        help="number of littered objects, as a multiple of the maximum number of live objects; 1"
        " is about one earlier run of the program (default %(default)s)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        help="seed; the same seed makes the same requests in the same order (default: another in"
        " each run)",
    )
    parser.add_argument(
        "--no-shuffle",
        action="store_true",
        help="free the objects allocated last instead of random ones",
    )


def add_choosing_options(parser: argparse.ArgumentParser) -> None:
    """The options of run and bench."""
    from halo.measure.deep.choice import VARIANTS
    from halo.measure.racing.budget import EFFORTS, NORMAL
    from halo.measure.racing.gains import Objective

    add_more_allocators_option(parser)
    parser.add_argument(
        "--effort",
        choices=list(EFFORTS),
        default=NORMAL,
        help="quick: allocators, their settings and plans that need no recording; normal: also"
        " plans from a recording; thorough: also those that need every access, where a test says"
        " that they could matter (default %(default)s)",
    )
    parser.add_argument(
        "--objective",
        choices=[str(it) for it in Objective],
        default=str(Objective.TIME),
        help="what is to be least: time, or memory: the peak, among all that take at most 2 %%"
        " more time than the fastest (default %(default)s)",
    )
    parser.add_argument(
        "--candidates",
        default="",
        metavar="A,B",
        help="candidates to race, by label or strategy, besides the no-plan baseline:"
        f" {', '.join(variant.label for variant in VARIANTS)}; what they need is recorded (default:"
        " those of --effort)",
    )
    add_sink_option(parser, DISTANCE)


def candidates_of(options: argparse.Namespace) -> list[str]:
    """The names of `--candidates`."""
    return [name.strip() for name in options.candidates.split(",") if name.strip()]
