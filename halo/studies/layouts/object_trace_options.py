"""Shared by the commands that read an object trace, or record one of a program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import BadTrace, UsageError
from halo.base.files.kinds import PROFILE, kind_of
from halo.base.settings import Settings
from halo.binary.process.target import Target, find_target
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.options import add_engine_option
from halo.cli.shared.program import the_program
from halo.record.registry import find_producer

if TYPE_CHECKING:
    from halo.record.profile import Profile
    from halo.studies.layouts.recording import Run


@dataclass(frozen=True)
class Traced:
    """An object trace, and the run that it is of."""

    path: Path
    program: str = ""
    arguments: tuple[str, ...] = ()
    complete: bool = True  # as far as is known without reading it
    profile: Profile | None = None  # of the run, if it was recorded now
    typed: Path | None = None  # the type-aware trace that it was made from


def add_trace_options(parser: argparse.ArgumentParser, trace: str) -> None:
    """The stored trace, with that help, or how to record one and where to keep it."""
    text = f"{trace}; or a profile with an object trace"
    parser.add_argument("trace", type=Path, nargs="?", metavar="TRACE", help=text)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="TRACE.objects",
        help="keep the object trace in this file, which must not exist",
    )
    add_engine_option(parser)


def check_stored(
    options: argparse.Namespace, rest: Sequence[str], recording: Sequence[str] = ()
) -> None:
    """`UsageError` if a stored trace comes with a program, or with options of recordings.

    `recording` names options besides --output and --engine.
    """
    if rest:
        raise UsageError("Give either a program to run or a TRACE, not both.")
    names = ["output", "engine", *recording]
    if any(getattr(options, name) is not None for name in names):
        flags = [f"--{name}" for name in names]
        raise UsageError(
            f"{', '.join(flags[:-1])} and {flags[-1]} need a program to run, not a stored TRACE."
        )


def traced_of_profile(path: Path) -> Traced | None:
    """The object trace that a profile names; None if the file is not a profile.

    Raises `BadTrace` if the profile has none, or the trace is gone or of another run.
    """
    from halo.record.profile import OBJECT_TRACE, read_profile
    from halo.record.profile.sections.object_trace import check_file

    file = profile_argument(str(path))
    if not file.is_file() or kind_of(file) != PROFILE:
        return None
    profile = read_profile(file)
    trace = OBJECT_TRACE.of(profile)
    if trace is None:
        raise BadTrace(f"{file} has no object trace; record it with: halo record --objects")
    check_file(trace)
    return Traced(Path(trace.file), profile.program, tuple(profile.args), profile=profile)


def program_to_trace(
    settings: Settings, rest: Sequence[str], command: str
) -> tuple[Target, list[str]]:
    """The program after `--` and its arguments; raises if it starts another one instead."""
    from halo.measure.runs.wrappers import refuse_known_launcher

    name, arguments = the_program(rest, command)
    target = find_target(name, settings.environment, arguments)
    refuse_known_launcher(target, arguments, settings.environment)
    return target, arguments


def record_run(settings: Settings, options: argparse.Namespace, run: Run, folder: Path) -> Traced:
    """Records the program; the trace is in `folder` unless --output keeps it."""
    from halo.studies.layouts.recording import record_objects

    path = options.output or folder / "kept.objects"
    engine = find_producer(settings, options.engine, everything=True)
    profile = record_objects(engine, settings, run, path, folder)
    return Traced(path, str(run.target.path), tuple(run.arguments), profile=profile)
