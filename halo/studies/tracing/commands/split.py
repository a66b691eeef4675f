"""`halo study trace split`: says which structures to divide into a hot and a cold part."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import BadInput, UsageError
from halo.base.settings import Settings
from halo.studies.tracing.analysis_options import (
    add_common,
    add_trace,
    analyse,
    check_no_program,
    write_out,
)

if TYPE_CHECKING:
    from halo.studies.tracing.analyses import Analysis, Answer
    from halo.studies.tracing.analyses.split.split import ClassSplit, SplitResult
    from halo.studies.tracing.document import Analysis as Document

IMAGES = (".svg", ".png", ".pdf")

COMMAND = "trace split"


class SplitCommand:
    name = "split"
    summary = "List the structures to split into a hot and a cold part, with their new text."
    usage = "halo study trace split [OPTIONS] TRACE..."
    examples = ("halo study trace split --chart split.svg prog.columns",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        parser.add_argument(
            "--class", dest="names", default="*", metavar="GLOB", help="only classes of this name"
        )
        parser.add_argument(
            "--all", action="store_true", help="also classes that are not live, with the reason"
        )
        parser.add_argument(
            "--picture",
            "--chart",
            type=Path,
            metavar="FILE",
            help="picture of the accesses to each field; .svg, .png or .pdf",
        )
        add_common(parser, "classes")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.studies.tracing.analyses import find_analysis

        check_no_program(COMMAND, rest)
        chart: Path | None = options.picture
        if chart is not None:
            if chart.suffix.lower() not in IMAGES:
                raise UsageError(f"--chart {chart}: end the name in {', '.join(IMAGES)}.")
            check_place(chart)
        return analyse(settings, options, find_analysis("split"), {}, _deliver)


def _deliver(options: argparse.Namespace, analysis: Analysis, answer: Answer) -> None:
    """The classes that are asked for: as files, and as tables unless stdout takes a file."""
    from halo.studies.tracing.analyses.documents import json_text
    from halo.studies.tracing.analyses.split.analysis import split_of
    from halo.studies.tracing.analyses.split.document import split_csv, split_document

    result = split_of(answer.about.program, answer.report, answer.details)
    if result.classes and not result.chosen(options.names, everything=True):
        raise BadInput(f"No class with an accessed field matches --class '{options.names}'.")
    shown = result.chosen(options.names, options.all)[: options.rows]
    document = split_document(answer, result, shown)
    if options.picture is not None:
        _draw(document, options.picture)
    if options.json:
        write_out(options.json, json_text(document))
    if options.csv:
        write_out(options.csv, split_csv(shown))
    if "-" not in (options.csv, options.json):
        _show(answer, result, shown)
    sys.stdout.flush()


def _draw(document: Document, path: Path) -> None:
    """The figure `split` of `halo plot`, of the same document."""
    from halo.base.files.atomic import write_atomically
    from halo.studies.tracing.figures.split import draw_split_classes
    from halo.studies.tracing.results import AnalysisResult

    image = draw_split_classes(AnalysisResult(path, document), path.suffix[1:].lower())
    write_atomically(path, image)


def _show(answer: Answer, result: SplitResult, shown: list[ClassSplit]) -> None:
    from halo.base.console.terminal import make_console, show_prose
    from halo.studies.tracing.analyses.render import remarks
    from halo.studies.tracing.analyses.split.table import show_split

    console = make_console()
    show_split(console, result, shown)
    for sentence in remarks(answer):
        show_prose(console, sentence)
