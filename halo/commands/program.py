"""Shared by the commands: the program after `--`, and the options of all that measure."""

from __future__ import annotations

import argparse
import datetime
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from halo.allocators import find_allocator, preload, under_plan
from halo.errors import BadInput, MissingPart, UsageError
from halo.outcome import say
from halo.settings import Settings

DEFAULT_TRIALS = 11


def the_program(rest: Sequence[str], command: str) -> tuple[str, list[str]]:
    """The program and its arguments; UsageError where the `--` or the program is missing."""
    if not rest:
        raise UsageError(
            f"The program is missing: give it after `--`, for instance: halo {command} -- PROG ARGS"
        )
    return rest[0], list(rest[1:])


def two_programs(rest: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """Splits `PROG TRAIN-ARGS -- PROG REF-ARGS` at the `--` before the second PROG."""
    usage = "write: halo run [OPTIONS] -- PROG TRAIN-ARGS -- PROG REF-ARGS"
    places = [number for number, word in enumerate(rest) if word == "--"]
    if not rest or not places:
        raise UsageError(f"`halo run` needs two `--`, one before each program; {usage}")
    program = rest[0]
    if program == "--":
        raise UsageError(f"There is no program between the two `--`; {usage}")
    again = [place for place in places if list(rest[place + 1 : place + 2]) == [program]]
    if len(again) == 1:
        return program, list(rest[1 : again[0]]), list(rest[again[0] + 2 :])
    if again:
        raise UsageError(
            f"`-- {program}` stands more than once, so it is unclear where the reference run"
            " begins; name the program by another path inside the arguments."
        )
    if places[-1] == len(rest) - 1:
        raise UsageError(f"There is no program after the second `--`; {usage}")
    if len(places) == 1 and _same_file(program, rest[places[0] + 1]):
        return program, list(rest[1 : places[0]]), list(rest[places[0] + 2 :])
    raise UsageError(
        f"The training run is of {program} and the reference run of {rest[places[0] + 1]}, but a"
        f" plan fits one binary only; {usage}"
    )


def _same_file(one: str, other: str) -> bool:
    """Whether both names lead to the same binary, as `jq` and `/usr/bin/jq` do."""
    paths = [shutil.which(name) for name in (one, other)]
    return None not in paths and len({os.path.realpath(str(path)) for path in paths}) == 1


def check_runtime(settings: Settings) -> None:
    """Refuses a runtime that is not built, or lies where LD_PRELOAD cannot name it."""
    check_library("runtime", settings.runtime)


def check_library(name: str, path: Path) -> None:
    """Refuses a library of ours that is not built, or lies where LD_PRELOAD cannot name it."""
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
    """The user's environment with that allocator, and under the plan where there is one."""
    from halo.matching import check_plan

    chosen = find_allocator(allocator)
    if plan is None:
        return preload(settings.environment, [chosen.library])
    check_runtime(settings)
    check_plan(plan, program)
    return under_plan(settings.environment, settings.runtime, plan, chosen)


def add_measuring_options(parser: argparse.ArgumentParser) -> None:
    """The options of run, bench and baseline."""
    parser.add_argument(
        "--trials",
        type=positive,
        default=DEFAULT_TRIALS,
        metavar="N",
        help="recorded trials, after one that is dropped (default: %(default)s)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary to FILE")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="where raw values and plans go (default: results/PROGRAM-TIME)",
    )
    parser.add_argument(
        "--cpu", type=natural, metavar="N", help="run the trials on processor N only"
    )


def add_litter_option(parser: argparse.ArgumentParser) -> None:
    """The option of run, bench and baseline that ages every trial's heap."""
    parser.add_argument(
        "--litter",
        metavar="SETTINGS",
        help="every trial on an aged heap: occupancy=FRACTION,multiplier=N,seed=N,shuffle=yes|no,"
        "groups=yes|no,data=FILE, all of them optional (docs/littering.md)",
    )


def add_litter_settings(parser: argparse.ArgumentParser, multiplier: str) -> None:
    """Settings of the litterer that litter and age share; the default of one of them."""
    parser.add_argument(
        "--multiplier",
        default=multiplier,
        metavar="N",
        help="objects allocated, in multiples of the most that were alive at once; 1 is about one"
        " run of the program before this one (default: %(default)s)",
    )
    parser.add_argument("--seed", metavar="N", help="default: another one in each run")
    parser.add_argument(
        "--no-shuffle", action="store_true", help="free the objects allocated last, not any"
    )


def add_choosing_options(parser: argparse.ArgumentParser) -> None:
    """The options of run and bench."""
    parser.add_argument(
        "--candidates",
        default="",
        metavar="A,B",
        help="only these candidates, by label or strategy (`none` always takes part)",
    )
    parser.add_argument(
        "--distance",
        type=positive,
        default=128,
        metavar="BYTES",
        help="affinity distance of the recording (default: %(default)s)",
    )


def positive(text: str) -> int:
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return value


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
        raise UsageError(f"There is no processor {cpu} to run on; choose among: {names}.")


def input_file(path: Path | None) -> Path | None:
    """The absolute path of a file for standard input; BadInput where it cannot be read."""
    if path is None:
        return None
    if not path.is_file() or not os.access(path, os.R_OK):
        raise BadInput(f"The input file {path} does not exist or cannot be read; check its path.")
    return path.absolute()


def results_folder(settings: Settings, given: Path | None, program: str) -> Path:
    """A folder for one measurement's results."""
    if given is None:
        now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        given = Path("results") / f"{Path(program).name}-{now}"
    try:
        given.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"The results folder {given} cannot be made ({error.strerror}); give another with"
            " --results."
        ) from error
    return given.absolute()


def tell_what_stays(folder: Path) -> None:
    """Says of an interrupted measurement where what it has finished is; an empty folder goes."""
    drop_empty(folder)
    if folder.is_dir():
        say(f"halo: what was finished is in {folder}")


def drop_empty(folder: Path) -> None:
    """Removes a results folder in which nothing was finished."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def plain_environment(settings: Settings, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The user's environment without halo's own variables."""
    own = {k: v for k, v in settings.environment.items() if not k.startswith("HALO_")}
    return {**own, **(extra or {})}
