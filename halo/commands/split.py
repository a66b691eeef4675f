"""`halo split`: says which structures to divide into a hot and a cold part."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.analysing import (
    COMMON,
    add_common,
    add_trace,
    analyse,
    check_no_program,
    write_out,
)
from halo.errors import BadInput, UsageError
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.analyses import Analysis, Answer
    from halo.analyses.split import ClassSplit, SplitResult

IMAGES = (".svg", ".png", ".pdf")


class SplitCommand:
    name = "split"
    summary = "Say which structures to divide into a hot and a cold part, and write them down."
    usage = f"halo split TRACE [--class GLOB] [--all] [--chart FILE] {COMMON}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        parser.add_argument(
            "--class", dest="names", default="*", metavar="GLOB", help="show only classes so named"
        )
        parser.add_argument(
            "--all", action="store_true", help="show also classes that are not live, and why"
        )
        parser.add_argument(
            "--chart",
            type=Path,
            metavar="FILE",
            help="draw the accesses to each field; the name ends in .svg, .png or .pdf",
        )
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.analyses import find_analysis
        from halo.destination import check_place

        check_no_program(self.name, rest)
        chart: Path | None = options.chart
        if chart is not None:
            if chart.suffix.lower() not in IMAGES:
                raise UsageError(f"--chart {chart}: end the name in {', '.join(IMAGES)}.")
            check_place(chart)
        return analyse(settings, options, find_analysis(self.name), {}, _deliver)


def _deliver(options: argparse.Namespace, analysis: Analysis, answer: Answer) -> None:
    """The classes that are asked for: as files, and as tables unless stdout takes a file."""
    import json

    from halo.analyses.split_analysis import split_of
    from halo.analyses.split_document import split_csv, split_document

    result = split_of(answer.about.program, answer.report, answer.details)
    if result.classes and not result.chosen(options.names, everything=True):
        raise BadInput(f"No class with an accessed field matches --class '{options.names}'.")
    shown = result.chosen(options.names, options.all)[: options.limit]
    document = json.dumps(split_document(answer, result, shown), indent=1) + "\n"
    if options.chart is not None:
        _draw(document, options.chart)
    if options.json:
        write_out(options.json, document)
    if options.csv:
        write_out(options.csv, split_csv(shown))
    if "-" not in (options.csv, options.json):
        _show(answer, result, shown)
    sys.stdout.flush()


def _draw(document: str, path: Path) -> None:
    """The figure `split` of `halo plot`, from the same document."""
    from halo.figures.split import draw_split_classes
    from halo.profile.writing import write_atomically
    from halo.results.analysis import parse_analysis

    image = draw_split_classes(parse_analysis(document, path), path.suffix[1:].lower())
    write_atomically(path, image)


def _show(answer: Answer, result: SplitResult, shown: list[ClassSplit]) -> None:
    from halo.analyses.showing import remarks
    from halo.analyses.split_table import show_split
    from halo.terminal import make_console, show_prose

    console = make_console()
    show_split(console, result, shown)
    for sentence in remarks(answer):
        show_prose(console, sentence)
