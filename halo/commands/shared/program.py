"""Shared by the commands: the program after `--`, and the options of all that measure."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.shared.options import add_json_option
from halo.commands.shared.service import (
    OF_A_RUN,
    OF_AN_AGED_RUN,
    add_service_options,
    add_timeout_option,
    service_of,
)
from halo.errors import BadInput, MissingPart, UsageError
from halo.process.allocators import alone, find_allocator, under_plan
from halo.process.target import Target
from halo.recording.sink_options import DISTANCE, SinkOption
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.trials.runs.job import Job

DEFAULT_TRIALS = 11


def the_program(rest: Sequence[str], command: str) -> tuple[str, list[str]]:
    """The program and its arguments; `UsageError` if the `--` or the program is missing."""
    if not rest:
        raise UsageError(
            f"The program is missing: give it after `--`, for instance: halo {command} -- PROG ARGS"
        )
    return rest[0], list(rest[1:])


def two_programs(rest: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Splits `PROG RECORDED-ARGS -- PROG ARGS` at the `--` before the second PROG."""
    usage = "write: halo run [OPTIONS] -- PROG RECORDED-ARGS -- PROG ARGS"
    places = [number for number, word in enumerate(rest) if word == "--"]
    if not rest or not places:
        raise UsageError(f"The command needs two `--`, one before each program; {usage}")
    program = rest[0]
    if program == "--":
        raise UsageError(f"A program is missing between the two `--`; {usage}")
    again = [place for place in places if list(rest[place + 1 : place + 2]) == [program]]
    if len(again) == 1:
        return program, list(rest[1 : again[0]]), list(rest[again[0] + 2 :])
    if again:
        raise UsageError(
            f"`-- {program}` stands more than once, so it is unclear where the measured run"
            " begins; name the program by another path inside the arguments."
        )
    if places[-1] == len(rest) - 1:
        raise UsageError(f"A program is missing after the second `--`; {usage}")
    if len(places) == 1 and _same_file(program, rest[places[0] + 1]):
        return program, list(rest[1 : places[0]]), list(rest[places[0] + 2 :])
    raise UsageError(
        f"The recorded run is of {program} and the measured run of {rest[places[0] + 1]}, but a"
        f" plan fits one binary only; {usage}"
    )


def one_or_two_programs(
    rest: Sequence[str], command: str
) -> tuple[str, list[str], list[str] | None]:
    """The program, its arguments, and those of the recorded run, if they were given first.

    A `--` that no program follows is an argument of the program.
    """
    name, arguments = the_program(rest, command)
    places = [at for at, word in enumerate(rest) if word == "--"]
    if not any(shutil.which(word) for at in places for word in rest[at + 1 : at + 2]):
        return name, list(arguments), None
    name, recorded, measured = two_programs(rest)
    return name, measured, recorded


def _same_file(one: str, other: str) -> bool:
    """Whether both names lead to the same binary, as `jq` and `/usr/bin/jq` do."""
    paths = [shutil.which(name) for name in (one, other)]
    return None not in paths and len({os.path.realpath(str(path)) for path in paths}) == 1


def check_runtime(settings: Settings) -> None:
    """Refuses a runtime that is not built, or whose path LD_PRELOAD cannot express."""
    check_library("runtime", settings.runtime)


def check_library(name: str, path: Path) -> None:
    """Refuses a library of ours that is not built, or whose path LD_PRELOAD cannot express."""
    if not path.is_file():
        raise MissingPart(f"The {name} is not built ({path}); run: make build")
    if ":" in str(path) or " " in str(path):
        raise UsageError(
            f"The path {path} holds a colon or a space, which LD_PRELOAD cannot express; move the"
            " checkout."
        )


def chosen_environment(
    settings: Settings, program: Path, allocator: str, plan: Path | None
) -> dict[str, str]:
    """The user's environment with that allocator, and with the plan if there is one."""
    from halo.plan.build_match import check_plan

    chosen = find_allocator(allocator)
    if plan is None:
        return alone(settings.environment, chosen)
    check_runtime(settings)
    check_plan(plan, program, halo=settings.command)
    return under_plan(settings.environment, settings.runtime, plan, chosen)


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


def add_allocator_option(
    parser: argparse.ArgumentParser, role: str, default: str = "glibc", of_plan: bool = False
) -> None:
    """The option of all that run a program once under a chosen allocator.

    With `of_plan`, it is None by default: that of the plan.
    """
    parser.add_argument(
        "--allocator",
        default=None if of_plan else default,
        metavar="NAME",
        help=f"{role}: glibc, jemalloc, mimalloc, tcmalloc or the path of a library (default"
        f"{': the one that the plan was kept over, or' if of_plan else ''} {default})",
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


def add_sink_option(parser: argparse.ArgumentParser, option: SinkOption) -> None:
    if option.file or option.switch:
        parser.add_argument(
            option.flag,
            dest=option.name,
            action="store_const",
            const=1,
            default=option.default,
            help=option.help,
        )
        return
    parser.add_argument(
        option.flag,
        dest=option.name,
        type=_machine_name if option.machine else up_to(option.maximum),
        nargs=None if option.bare is None else "?",
        const=option.bare,
        default=None if option.machine else option.default,
        metavar=option.metavar,
        help=option.help,
    )


def _machine_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a machine has a name, this one is empty")
    return text


def add_stdin_option(parser: argparse.ArgumentParser) -> None:
    """The option of all that measure a program of the user's."""
    parser.add_argument(
        "--stdin", type=Path, metavar="FILE", help="standard input of every run (default: empty)"
    )


def deep_binding_warning(settings: Settings, program: Path) -> str:
    """A warning if the program opens libraries that a preloaded malloc cannot serve, else empty."""
    from halo.doctor.finding import listed
    from halo.doctor.opened_libraries import deep_binders

    found = deep_binders(settings, program)
    if not found:
        return ""
    return (
        f"halo: warning: {listed(found)} open{'s' if len(found) == 1 else ''} libraries with"
        " RTLD_DEEPBIND, which keeps them from using a preloaded malloc; before you rely on a"
        f" plan, check it with: halo doctor --run --plan PLAN -- {program.name} ARGS\n"
    )


def warn_of_deep_binding(settings: Settings, program: Path) -> None:
    """Prints the warning to stderr."""
    sys.stderr.write(deep_binding_warning(settings, program))


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
    from halo.trials.runs.job import Job

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


def _exit_status(text: str) -> int:
    value = natural(text)
    if value > 255:
        raise argparse.ArgumentTypeError(f"'{text}' is not an exit status (0 to 255)")
    return value


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
    from halo.trials.candidates import VARIANTS
    from halo.trials.racing.budget import EFFORTS, NORMAL
    from halo.trials.racing.gains import Objective

    add_more_allocators_option(parser)
    parser.add_argument(
        "--effort",
        choices=list(EFFORTS),
        default=NORMAL,
        help="quick: allocators, their settings and plans that need no recording; normal: also"
        " plans from a recording; thorough: also those that need every access (default"
        " %(default)s)",
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
        f" {', '.join(variant.label for variant in VARIANTS)} (default: all that"
        " need no option of their own)",
    )
    parser.add_argument(
        "--conflicts",
        action="store_true",
        help="record conflicts in this machine's first cache, too, and race the candidate conflict;"
        " the recording is then exact, which takes longer",
    )
    parser.add_argument(
        "--search",
        action="store_true",
        help="record all accesses by object, too, and race the five best plans of the strategy"
        " search; the recording is then exact, and train.objects stays with the results",
    )
    parser.add_argument(
        "--hints",
        action="store_true",
        help="record all accesses by object and the contents of objects, too, and race the plans"
        " with hints; the recording is then exact, and train.objects stays with the results",
    )
    parser.add_argument(
        "--confine",
        action="store_true",
        help="record all accesses by object, of any size, and race a plan that confines large"
        " objects of contexts that pollute the last-level cache; train.objects stays with the"
        " results",
    )
    add_sink_option(parser, DISTANCE)


def positive(text: str) -> int:
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return value


def up_to(maximum: int | None) -> Callable[[str], int]:
    """A parser of numbers from 1 to the maximum, if there is one."""

    def parse(text: str) -> int:
        value = positive(text)
        if maximum is not None and value > maximum:
            raise argparse.ArgumentTypeError(f"'{text}' is more than {maximum}")
        return value

    return parse


def natural(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return value


def check_cpu(cpu: int | None) -> None:
    """UsageError unless trials may run on that processor."""
    allowed = os.sched_getaffinity(0)
    if cpu is not None and cpu not in allowed:
        names = ", ".join(str(number) for number in sorted(allowed))
        raise UsageError(
            f"Processor {cpu} does not exist, or may not be used; choose among: {names}."
        )


def input_file(path: Path | None) -> Path | None:
    """The absolute path of a file for standard input; BadInput where it cannot be read."""
    if path is None:
        return None
    if not path.is_file() or not os.access(path, os.R_OK):
        raise BadInput(f"The input file {path} does not exist or cannot be read; check its path.")
    return path.absolute()


def plain_environment(settings: Settings, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The user's environment without halo's own variables."""
    own = {k: v for k, v in settings.environment.items() if not k.startswith("HALO_")}
    return {**own, **(extra or {})}
