"""`halo plot`: draws a figure, or writes a table, of measurements."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from halo.commands.program import positive
from halo.errors import UsageError
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.figures import Figure

OPTIONS = {
    "--metric": "metric",
    "--contenders": "contenders",
    "--baseline": "baseline",
    "--input": "on",
    "--min-weight": "min_weight",
    "--top": "top",
}
"""Each option of the figures, and what figures call it."""


class PlotCommand:
    name = "plot"
    summary = "Draw a figure of results, or of an affinity graph; a wrong name lists the figures."
    usage = "halo plot FIGURE RESULT... [-o FILE]"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "figure", type=_figure, metavar="FIGURE", help="its name; a wrong one lists them"
        )
        parser.add_argument(
            "results",
            type=Path,
            nargs="+",
            metavar="RESULT",
            help="a results folder or its results.json; for affinity-graph also PROFILE PLAN",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="its ending says what it becomes (default: FIGURE.pdf, for tables FIGURE.md)",
        )
        parser.add_argument(
            "--metric",
            metavar="EVENT@TRANSFORM",
            help="for instance time@speedup, peak-memory@relative, L2-misses@negimprovement",
        )
        parser.add_argument(
            "--contenders", metavar="A,B", help="labels of contenders, in this order"
        )
        parser.add_argument(
            "--baseline",
            metavar="LABEL",
            help="what others are set against; `fastest` (default): of each program the fastest"
            " allocator",
        )
        parser.add_argument(
            "--input",
            choices=("reference", "training"),
            help="the trials on which input (default: reference)",
        )
        parser.add_argument(
            "--min-weight", type=positive, metavar="N", help="hide edges with less weight"
        )
        parser.add_argument(
            "--top", type=positive, metavar="N", help="show only the N heaviest edges"
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.destination import check_place
        from halo.figures import Options
        from halo.profile.writing import write_atomically
        from halo.results.metrics import REFERENCE

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
            if given[option.removeprefix("--").replace("-", "_")] and name not in figure.heeds:
                raise UsageError(f"The figure {figure.name} has no {option}; leave it out.")
        check_place(path)
        chosen = Options(
            metric=options.metric or "",
            contenders=names_in(options.contenders or ""),
            baseline=options.baseline or "",
            on=options.input or REFERENCE,
            min_weight=options.min_weight,
            top=options.top,
        )
        write_atomically(path, figure.make(options.results, chosen, ending))
        print(f"{figure.name}: {path}")
        return 0


def _figure(name: str) -> Figure:
    """While the command line is parsed: a name without a RESULT is to list the figures, too."""
    from halo.figures import find_figure

    try:
        return find_figure(name)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error


def names_in(text: str) -> tuple[str, ...]:
    """The names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))
