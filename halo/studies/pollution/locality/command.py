"""`halo study locality`: which objects and contexts pollute the last-level cache."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.base.errors import BadTrace
from halo.base.files.kinds import OBJECTS, refuse_other
from halo.base.settings import Settings
from halo.cli.shared.numbers import positive, up_to
from halo.cli.shared.options import add_json_option, add_machine_option, machine_of
from halo.cli.shared.study import ExitAnswer, Studied, Study
from halo.studies.layouts.object_trace_options import (
    Traced,
    add_trace_options,
    check_stored,
    program_to_trace,
    record_run,
    traced_of_profile,
)

MAX_SECONDS = 1_000_000


class LocalityCommand(Study):
    name = "locality"
    summary = "Find the allocation contexts that pollute the last-level cache."
    usage = "halo study locality [OPTIONS] -- PROG ARGS | halo study locality [OPTIONS] TRACE"
    examples = (
        "halo study locality -- jq . small.json",
        "halo study locality --machine e7420 --json jq.json -- jq . small.json",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace_options(parser, "stored object trace, best with --max-object 268435455")
        parser.add_argument(
            "--seconds",
            type=up_to(MAX_SECONDS),
            default=0,
            metavar="N",
            help="assumed run time in seconds, for the monitor's time-outs (default: 1 s for each"
            " cache size of misses)",
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
        add_json_option(parser)

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.record.parts import workspace
        from halo.studies.layouts.contexts import names_of
        from halo.studies.pollution.locality.document import LocalityDocument
        from halo.studies.pollution.locality.run import (
            Options,
            check_built,
            locality_of,
            with_names,
        )
        from halo.studies.pollution.locality.table import show_locality
        from halo.studies.pollution.locality.verdict import judge

        check_built(settings)
        machine = machine_of(options)
        with workspace() as folder:
            traced = _trace(settings, options, rest, folder)
            how = Options(
                machine, options.seconds, draws=options.draws, min_bytes=options.min_bytes
            )
            found = locality_of(settings, traced.path, how, folder)
        if traced.profile is not None:
            found = with_names(found, names_of(traced.profile))
        verdict = judge(found)
        document = LocalityDocument(
            program=traced.program,
            arguments=traced.arguments,
            machine=str(options.machine or ""),
            locality=found,
            pollution=verdict.pollution,
            verdict=verdict.answer.value,
        )
        answer = ExitAnswer.YES if verdict.pollutes else ExitAnswer.NO
        return Studied(lambda: show_locality(found, verdict), lambda: document, answer)


def _trace(
    settings: Settings, options: argparse.Namespace, rest: list[str], folder: Path
) -> Traced:
    """The stored trace, or one of the program."""
    from halo.record.parts import MAX_TRACED
    from halo.studies.layouts.recording import Run

    if options.trace is not None:
        check_stored(options, rest)
        if (traced := traced_of_profile(options.trace)) is not None:
            return traced
        refuse_other(options.trace, BadTrace, OBJECTS)
        return Traced(options.trace)
    target, arguments = program_to_trace(settings, rest, LocalityCommand.name)
    return record_run(settings, options, Run(target, arguments, max_object=MAX_TRACED), folder)
