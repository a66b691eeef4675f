"""`halo plot`: draws a figure, or writes a table, of measurements."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.list_action import ListAction
from halo.cli.shared.numbers import positive

if TYPE_CHECKING:
    from halo.report.figures.base import Figure

OPTIONS = {
    "--metric": "metric",
    "--configurations": "configurations",
    "--baseline": "baseline",
    "--input": "on",
    "--min-weight": "min_weight",
    "--top": "top",
    "--trimmed": "trimmed",
}
"""Each option of the figures, and what figures call it."""


class PlotCommand:
    name = "plot"
    summary = "Draw a figure, or write a table, of results."
    usage = "halo plot [OPTIONS] FIGURE RESULT... | halo plot --list"
    examples = ("halo plot speedup -o speedup.svg results/*/",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "figure", type=_figure, metavar="FIGURE", help="name of a figure or table (see --list)"
        )
        parser.add_argument(
            "results",
            type=Path,
            nargs="+",
            metavar="RESULT",
            help="results folder or its results.json; for affinity-graph also PROFILE PLAN; for"
            " split the JSON of `halo study trace split`",
        )
        parser.add_argument(
            "--list", action=ListAction, lines=_list, help="list the figures and metrics"
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="file to write; its ending selects the format (default: FIGURE.pdf, for tables"
            " FIGURE.md)",
        )
        parser.add_argument(
            "--metric",
            metavar="EVENT@TRANSFORM",
            help="metric to show (see --list), for instance time@speedup, peak-memory@relative or"
            " L2-misses@negimprovement",
        )
        parser.add_argument(
            "--configurations",
            "--contenders",
            metavar="A,B",
            help="labels of the configurations to show, in this order",
        )
        parser.add_argument(
            "--baseline",
            metavar="LABEL",
            help="configuration that others are compared with; fastest is the fastest allocator of"
            " each program (default fastest)",
        )
        parser.add_argument(
            "--input",
            choices=("reference", "training"),
            help="input whose trials are shown (default reference)",
        )
        parser.add_argument(
            "--min-weight",
            type=positive,
            metavar="N",
            help="minimum weight of the edges to show (affinity-graph)",
        )
        parser.add_argument(
            "--top",
            type=positive,
            metavar="N",
            help="number of heaviest edges (affinity-graph) or most accessed classes (split)",
        )

        parser.add_argument(
            "--trimmed",
            action="store_true",
            help="compare means of the runs without the best and the worst, instead of medians"
            " (speedup, configurations)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_atomically
        from halo.base.files.destination import check_place
        from halo.report.figures.base import FigureOptions
        from halo.report.figures.drawing.style import check_matplotlib
        from halo.report.results.metrics import REFERENCE

        if rest:
            raise UsageError("`halo plot` takes results and no program; leave out the `--`.")
        figure: Figure = options.figure
        path = options.output or Path(f"{figure.name}.{figure.endings[0]}")
        ending = path.suffix.removeprefix(".").lower()
        if ending not in figure.endings:
            raise UsageError(
                f"The figure {figure.name} cannot be written as '{path.name}'; end the name in"
                f" {', '.join(f'.{known}' for known in figure.endings)}."
            )
        given = vars(options)
        for option, name in OPTIONS.items():
            if given[option.removeprefix("--").replace("-", "_")] and name not in figure.accepts:
                raise UsageError(f"The figure {figure.name} has no {option}; leave it out.")
        check_place(path)
        check_matplotlib()
        chosen = FigureOptions(
            metric=options.metric or "",
            configs=names_in(options.configurations or ""),
            baseline=options.baseline or "",
            on=options.input or REFERENCE,
            min_weight=options.min_weight,
            top=options.top,
            trimmed=options.trimmed,
        )
        write_atomically(path, figure.make(options.results, chosen, ending))
        print(f"{figure.name}: {path}")
        return 0


def _list() -> Iterator[str]:
    from halo.report.figures.registry import FIGURES
    from halo.report.results.metrics import MEASURED, SIMULATED, TRANSFORMS

    for figure in FIGURES:
        yield f"{figure.name:16} {figure.summary}"
    yield ""
    yield "metrics: EVENT or EVENT@TRANSFORM"
    simulated = f"{', '.join(SIMULATED)}, and misses such as L1D-misses (simulated)"
    yield f"  events      {', '.join(MEASURED)} (measured); {simulated}; counted processor events"
    yield f"  transforms  {', '.join(TRANSFORMS)}"


def _figure(name: str) -> Figure:
    """While the command line is parsed: a name without a RESULT is to list the figures, too."""
    from halo.report.figures.registry import find_figure

    try:
        return find_figure(name)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error


def names_in(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
