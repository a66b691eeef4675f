"""`halo locality`: which objects and contexts pollute the last-level cache."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.shared.program import add_machine_option, positive, the_program, up_to
from halo.errors import UsageError
from halo.process.target import find_target
from halo.recording.registry import ENGINES, find_producer
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.profile import Profile

MAX_SECONDS = 1_000_000
_POLLUTES, _POLLUTES_NOT = 0, 1


@dataclass(frozen=True)
class _Traced:
    """An object trace, and the run that it is of."""

    path: Path
    program: str = ""
    arguments: tuple[str, ...] = ()
    profile: Profile | None = None  # of the run, if it was recorded now


class LocalityCommand:
    name = "locality"
    summary = "Find the allocation contexts that pollute the last-level cache."
    usage = "halo locality [OPTIONS] -- PROG ARGS | halo locality [OPTIONS] TRACE"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "trace",
            type=Path,
            nargs="?",
            metavar="TRACE",
            help="stored object trace, best with --max-object 268435455",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="TRACE.objects",
            help="keep the object trace in this file, which must not exist",
        )
        parser.add_argument(
            "--seconds",
            type=up_to(MAX_SECONDS),
            default=0,
            metavar="N",
            help="as how long the program counts for the watch's times (default: a second each"
            " time that the misses fill the cache)",
        )
        parser.add_argument(
            "--min-bytes",
            type=positive,
            default=0,
            metavar="N",
            help="smallest object that the watch considers (default 65)",
        )
        parser.add_argument(
            "--draws",
            type=positive,
            default=0,
            metavar="N",
            help="also judge the pages of about N random accesses, with and without counters",
        )
        add_machine_option(parser)
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="write the whole result to FILE"
        )
        engines = ", ".join(engine.name for engine in ENGINES)
        parser.add_argument(
            "--engine",
            choices=[engine.name for engine in ENGINES],
            metavar="NAME",
            help=f"engine that runs the program: {engines} (default: the first that works here)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.files.atomic import write_json
        from halo.files.destination import check_place
        from halo.layouts.contexts import names_of
        from halo.locality.run import Options, check_built, locality_of, with_names
        from halo.locality.table import show_locality
        from halo.locality.verdict import judge
        from halo.recording.parts import workspace
        from halo.schema.caches.locality import LocalityDocument
        from halo.simulation import machine_text

        check_built(settings)
        machine = machine_text(options.machine) if options.machine else ""
        if options.json is not None:
            check_place(options.json)
        with workspace() as folder:
            traced = _trace(settings, options, rest, folder)
            how = Options(
                machine, options.seconds, draws=options.draws, min_bytes=options.min_bytes
            )
            found = locality_of(settings, traced.path, how, folder)
        if traced.profile is not None:
            found = with_names(found, names_of(traced.profile))
        verdict = judge(found)
        show_locality(found, verdict)
        if options.json is not None:
            document = LocalityDocument(
                program=traced.program,
                arguments=traced.arguments,
                machine=str(options.machine or ""),
                locality=found,
                pollution=verdict.pollution,
                verdict=verdict.answer.value,
            )
            write_json(document, options.json)
        return _POLLUTES if verdict.pollutes else _POLLUTES_NOT


def _trace(
    settings: Settings, options: argparse.Namespace, rest: list[str], folder: Path
) -> _Traced:
    """The stored trace, or one of the program, in `folder` unless it is kept."""
    from halo.layouts.recording import Run, record_objects
    from halo.recording.parts import MAX_TRACED
    from halo.trials.runs.wrappers import refuse_known_starter, refuse_known_wrapper

    if options.trace is not None:
        if rest:
            raise UsageError("Give either a program to run or a TRACE, not both.")
        if (options.output, options.engine) != (None, None):
            raise UsageError("--output and --engine need a program to run, not a stored TRACE.")
        return _Traced(options.trace)
    name, arguments = the_program(rest, LocalityCommand.name)
    target = find_target(name, settings.environment)
    refuse_known_wrapper(target, arguments, settings.environment)
    refuse_known_starter(target)
    path = options.output or folder / "kept.objects"
    engine = find_producer(settings, options.engine)
    run = Run(target, arguments, max_object=MAX_TRACED)
    profile = record_objects(engine, settings, run, path, folder)
    return _Traced(path, str(target.path), tuple(arguments), profile)
