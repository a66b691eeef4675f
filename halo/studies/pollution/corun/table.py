"""Tables of programs alone and of mixes."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.console.terminal import TextColumn, TextGrid, TextRow, make_console, show_grid
from halo.studies.pollution.corun.document import CorunDocument, CorunProgram, Mix
from halo.studies.pollution.corun.speedups import OPEN, Summary, middle, summarise


def show_corun(document: CorunDocument) -> None:
    """Prints to stdout: the programs alone, each mix, and a summary of mixes of several."""
    console = make_console()
    show_grid(console, programs_table(document))
    tested = [mix for mix in document.mixes if mix.classes != OPEN] or list(document.mixes)
    if not tested:
        return
    show_grid(console, mixes_table(tested, document.mixes))
    mixed = [mix for mix in tested if len(mix.programs) > 1]
    if mixed:
        show_grid(console, summary_table(summarise(mixed)))


def programs_table(document: CorunDocument) -> TextGrid:
    """One row for each program: how it suffers if its objects are confined."""
    names = ("requests", "missed", "per 1000 cycles", "slowdown", "exact", "online", "learnt")
    return TextGrid(
        [
            TextColumn("program"),
            *(TextColumn(name, figures=True) for name in names),
            TextColumn("category"),
        ],
        [_program_row(one) for one in document.programs],
        f"{document.machine}: {document.colours} colours, confined objects in those from"
        f" {document.first} to {document.last}",
    )


def _program_row(one: CorunProgram) -> TextRow:
    return TextRow(
        (
            one.name if one.complete else f"{one.name} (cut)",
            f"{one.requests:,}",
            f"{one.misses / max(one.requests, 1):.1%}",
            f"{one.rate:.2f}",
            f"{one.slowdown:.1%}",
            f"{one.exact:.0%}",
            f"{one.online:.0%}",
            f"{one.learnt:.0%}",
            one.category,
        )
    )


def mixes_table(mixes: Sequence[Mix], everything: Sequence[Mix]) -> TextGrid:
    """One row for each program of each mix, compared with all objects open.

    `everything` has these mixes, and each with all objects open.
    """
    before = {mix.name: mix for mix in everything if mix.classes == OPEN}
    rows = []
    for mix in mixes:
        for at, one in enumerate(mix.programs):
            start = (mix.name, mix.classes) if at == 0 else ("", "")
            spread = f"{min(one.speedups):.3f} to {max(one.speedups):.3f}"
            missed = sum(one.misses) / max(one.requests * len(one.misses), 1)
            misses = sum(one.misses) / max(sum(before[mix.name].programs[at].misses), 1) - 1
            last = at == len(mix.programs) - 1
            figures = (f"{middle(one):.3f}", spread, f"{misses:+.1%}", f"{missed:.1%}")
            rows.append(TextRow((*start, one.name, one.role, *figures), last=last))
    return TextGrid(
        [
            TextColumn("mix"),
            TextColumn("classes"),
            TextColumn("program"),
            TextColumn("role"),
            TextColumn("speed-up", figures=True),
            TextColumn("of the seeds", figures=True),
            TextColumn("misses", figures=True),
            TextColumn("missed", figures=True),
        ],
        rows,
        "Speed-up over all objects open: median of the seeds, and their range; misses: change",
    )


def summary_table(summaries: Sequence[Summary]) -> TextGrid:
    """One row for each kind of mix and of classes."""
    names = ("mixes", "victims", "best", "worst victim", "worst polluter", "least", "most")
    return TextGrid(
        [
            TextColumn("kind"),
            TextColumn("classes"),
            *(TextColumn(name, figures=True) for name in names),
        ],
        [
            TextRow(
                (
                    one.kind,
                    one.classes,
                    str(one.mixes),
                    *(
                        f"{value:.3f}"
                        for value in (
                            one.victims,
                            one.best,
                            one.worst_victim,
                            one.worst_polluter,
                            one.least,
                            one.most,
                        )
                    ),
                )
            )
            for one in summaries
        ],
        "Medians of programs, by kind of mix; victims: their mean",
    )
