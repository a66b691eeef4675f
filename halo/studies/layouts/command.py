"""`halo study layout`: how many misses any order of a program's objects could save."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import BadInput, BadTrace, UsageError
from halo.base.files.kinds import OBJECTS, TRACE, refuse_other
from halo.base.settings import Settings
from halo.cli.shared.numbers import up_to
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

if TYPE_CHECKING:
    from halo.studies.hints.key_order import Key
    from halo.studies.layouts.document import Replayed
    from halo.studies.layouts.type_filter import TypeFilter

MAX_WINDOW = 1024
MAX_TYPES = 1000


class LayoutCommand(Study):
    name = "layout"
    summary = "Simulate how many misses another order of a program's objects would have."
    usage = "halo study layout [OPTIONS] -- PROG ARGS | halo study layout [OPTIONS] TRACE"
    outputs = ("json", "graph", "order")
    examples = ("halo study layout -- jq . small.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace_options(
            parser, "stored object trace, or the trace of a program built with halo-cc"
        )
        parser.add_argument(
            "--window",
            type=up_to(MAX_WINDOW),
            default=1,
            metavar="N",
            help="accesses before an access with which it pairs in the access graph"
            " (default %(default)s)",
        )
        parser.add_argument(
            "--types",
            metavar="A,B",
            help="access graph only of objects of these types, without arrays of numbers and"
            " pointers; TRACE is of a program built with halo-cc",
        )
        parser.add_argument(
            "--top-types",
            type=up_to(MAX_TYPES),
            metavar="N",
            help="likewise, of the N types with most objects",
        )
        parser.add_argument(
            "--graph",
            type=Path,
            metavar="FILE",
            help="write the access graph to FILE, in the format of its ending: graphml, dot or"
            " metis",
        )
        parser.add_argument(
            "--quick",
            action="store_true",
            help="replay only the packing that the verdict compares",
        )
        parser.add_argument(
            "--order",
            type=Path,
            metavar="FILE",
            help="write the objects in the order hml to FILE, which is replaced: context, number in"
            " it, and size",
        )
        parser.add_argument(
            "--key",
            metavar="TYPE.field",
            help="write to the file of --order the values of this field instead, a line for each"
            " object of TYPE, in the order hml-ordered; TRACE is of a program built with halo-cc",
        )
        parser.add_argument(
            "--phase",
            metavar="FUNCTION",
            help="count only the accesses from the first to the last one by code of FUNCTION",
        )
        parser.add_argument(
            "--after-phase",
            action="store_true",
            help="count the accesses behind the phase instead",
        )
        add_machine_option(parser)
        add_json_option(parser)

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        import msgspec

        from halo.base.files.atomic import write_atomically
        from halo.record.parts import workspace
        from halo.studies.layouts.contexts import contexts_table
        from halo.studies.layouts.document import LayoutDocument
        from halo.studies.layouts.replays import (
            GRAPH_FORMATS,
            ReplayOptions,
            check_replayer,
            replay,
        )
        from halo.studies.layouts.table import show_contexts, show_layouts
        from halo.studies.layouts.verdict import PACKING, judge

        check_replayer(settings)
        machine = machine_of(options)
        if options.graph is not None and options.graph.suffix not in GRAPH_FORMATS:
            raise UsageError(
                f"The name of a graph ends in {', '.join(GRAPH_FORMATS)}; {options.graph} does not."
            )
        key, wanted = _key(options), _wanted_types(options)
        if options.after_phase and options.trace is None and options.phase is None:
            raise UsageError("--after-phase needs --phase FUNCTION.")
        with workspace() as folder:
            traced = _trace(settings, options, rest, folder)
            layout, types, dataset = folder / "communities", folder / "types", None
            if traced.typed is not None:
                from halo.studies.hints.key_order import key_order
                from halo.studies.layouts.layout_file import read_layout
                from halo.studies.layouts.miss_places import miss_places
                from halo.studies.layouts.object_types import write_types
                from halo.studies.layouts.typed_trace import dataset_of

                dataset = dataset_of(settings, traced.typed, options.machine, folder)
            how = ReplayOptions(
                options.window,
                machine,
                options.graph,
                options.order if key is None else None,
                layout if key is not None else None,
                packing=PACKING if options.quick else "",
                after_phase=options.after_phase,
                types=types if dataset and write_types(dataset, wanted, types, folder) else None,
            )
            replayed = replay(
                settings, traced.path, how, folder, lambda found: _check(found, options)
            )
            if dataset is not None:
                places = miss_places(dataset, folder)
                replayed = msgspec.structs.replace(replayed, miss_places=places)
                if key is not None:
                    values = key_order(dataset, read_layout(layout), key, folder)
                    write_atomically(options.order, values.encode())
        if not traced.complete:
            replayed = msgspec.structs.replace(replayed, complete=False)
        verdict = judge(replayed)

        def show() -> None:
            show_layouts(replayed, verdict)
            if options.order is not None and key is None:
                show_contexts(contexts_table(options.order, traced.profile))

        document = LayoutDocument(
            program=traced.program,
            arguments=traced.arguments,
            phase=options.phase or "",
            replayed=replayed,
            usual=verdict.usual.order,
            best=verdict.best.order,
            gain=verdict.gain,
            verdict=verdict.answer.value,
        )
        answer = ExitAnswer.YES if verdict.helps else ExitAnswer.NO
        return Studied(show, lambda: document, answer)


def _check(replayed: Replayed, options: argparse.Namespace) -> None:
    """Raises `BadInput` for a trace that does not answer the question."""
    if not replayed.accessed_objects:
        raise BadInput(
            "The trace has no accesses to tracked objects, so there is nothing to order."
        )
    if replayed.phase or (options.phase is None and not options.after_phase):
        return
    raise BadInput(
        f"No access was made by code of {options.phase}."
        if options.phase
        else f"{options.trace} has no phase; record one with: halo study layout --phase FUNCTION"
        " -o OTHER.objects -- PROG ARGS"
    )


def _key(options: argparse.Namespace) -> Key | None:
    """The field of --key; raises if the other options do not suit it."""
    if options.key is None:
        return None
    from halo.studies.hints.key_order import parse_key

    if options.order is None:
        raise UsageError("--key needs --order FILE.")
    _check_typed(options, "--key")
    return parse_key(options.key)


def _wanted_types(options: argparse.Namespace) -> TypeFilter:
    """The types of --types and --top-types; raises if the other options do not suit them."""
    from halo.studies.layouts.type_filter import TypeFilter, parse_names

    names = parse_names(options.types or "")
    if options.types is not None:
        _check_typed(options, "--types")
        if not names or options.top_types:
            raise UsageError("Give either --types A,B or --top-types N.")
    elif options.top_types:
        _check_typed(options, "--top-types")
    return TypeFilter(names, options.top_types or 0)


def _check_typed(options: argparse.Namespace, option: str) -> None:
    """Raises unless the given trace has types, or does not exist."""
    from halo.studies.layouts.typed_trace import is_typed

    if options.trace is None:
        raise UsageError(f"{option} needs a stored TRACE of a program built with halo-cc -g.")
    if options.trace.exists() and not is_typed(options.trace):
        raise BadInput(
            f"{options.trace} has no types and values, so {option} cannot be used; give a trace of"
            " halo study trace run."
        )


def _trace(
    settings: Settings, options: argparse.Namespace, rest: list[str], folder: Path
) -> Traced:
    """The stored trace, or one of the program."""
    from halo.studies.layouts.recording import Run, find_phase
    from halo.studies.layouts.typed_trace import is_typed, objects_of

    if options.trace is not None:
        check_stored(options, rest, ("phase",))
        if (traced := traced_of_profile(options.trace)) is not None:
            return traced
        refuse_other(options.trace, BadTrace, OBJECTS, TRACE)
        if not is_typed(options.trace):
            return Traced(options.trace)
        typed = objects_of(settings, options.trace, folder)
        return Traced(
            typed.objects,
            str(typed.program),
            typed.arguments,
            typed.complete,
            typed=options.trace,
        )
    target, arguments = program_to_trace(settings, rest, LayoutCommand.name)
    phase = find_phase(target, options.phase) if options.phase is not None else ""
    return record_run(settings, options, Run(target, arguments, phase), folder)
