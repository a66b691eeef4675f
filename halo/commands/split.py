"""`halo split`: says which structures to divide into a hot and a cold part."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.errors import UsageError
from halo.settings import Settings

IMAGES = (".svg", ".png", ".pdf")


class SplitCommand:
    name = "split"
    summary = "Say which structures to divide into a hot and a cold part, from a trace."
    usage = "halo split FOLDER [--class GLOB] [--all] [--json FILE] [--csv FILE] [--chart FILE]"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("trace", type=Path, metavar="FOLDER", help="a trace's columns")
        parser.add_argument(
            "--class", dest="names", default="*", metavar="GLOB", help="only classes so named"
        )
        parser.add_argument(
            "--all", action="store_true", help="also classes that are not live, and why"
        )
        for option, what in (
            ("--json", "write the result for halo report and halo plot"),
            ("--csv", "write the fields as a table"),
            ("--chart", "draw the fields' weights; the name ends in .svg, .png or .pdf"),
        ):
            parser.add_argument(option, type=Path, metavar="FILE", help=what)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        if rest:
            raise UsageError("`halo split` takes a trace and no program; leave out the `--`.")
        chart: Path | None = options.chart
        if chart is not None and chart.suffix.lower() not in IMAGES:
            raise UsageError(f"--chart {chart}: end the name in {', '.join(IMAGES)}.")
        _split(options)
        return 0


def _split(options: argparse.Namespace) -> None:
    import json
    import tempfile

    from rich.console import Console

    from halo.analyses import Request, find_analysis, open_folder, run_analysis
    from halo.analyses.split_analysis import split_of
    from halo.analyses.split_document import split_csv, split_document
    from halo.analyses.split_table import show_split
    from halo.errors import BadInput
    from halo.planning import check_place
    from halo.profile.writing import write_atomically

    outputs = [path for path in (options.json, options.csv, options.chart) if path is not None]
    for path in outputs:
        check_place(path)
    with tempfile.TemporaryDirectory(prefix="halo-split-") as scratch:
        folder = open_folder(options.trace)
        answer = run_analysis(find_analysis("split"), folder, Request(Path(scratch)))
    result = split_of(answer.about.program, answer.report, answer.details)
    if result.classes and not result.chosen(options.names, everything=True):
        raise BadInput(f"No class with an accessed field matches --class '{options.names}'.")
    shown = result.chosen(options.names, options.all)
    document = json.dumps(split_document(answer, result, shown), indent=1) + "\n"
    if options.chart is not None:
        write_atomically(options.chart, _chart(document, options.chart))
    if options.json is not None:
        write_atomically(options.json, document.encode())
    if options.csv is not None:
        write_atomically(options.csv, split_csv(shown).encode())
    console = Console() if Console().is_terminal else Console(width=120)
    show_split(console, result, shown)


def _chart(document: str, path: Path) -> bytes:
    """The figure `split` of `halo plot`, from the same document."""
    from halo.figures.split import draw_split_classes
    from halo.results.analysis import parse_analysis

    return draw_split_classes(parse_analysis(document, path), path.suffix[1:].lower())
