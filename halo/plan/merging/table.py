"""Prints what was merged, and the leave-one-out score, as tables and sentences."""

from __future__ import annotations

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.base.schema.merge import ContextsApart, InputScore, LeftOutSection, MergeDocument

PLANS = {"others": "the others", "all": "all", "own": "itself"}


def show_merge(document: MergeDocument) -> None:
    """Prints the inputs, the scores if there are any, and all that the profile lacks to stdout."""
    console = make_console()
    show_grid(console, inputs_table(document))
    if document.agreement:
        show_grid(console, scores_table(document))
    sentences = remarks(document)
    if sentences:
        console.print()
    for sentence in sentences:
        show_prose(console, sentence)


def inputs_table(document: MergeDocument) -> TextGrid:
    """One row for each input."""
    whole = sum(it.repeats * it.accesses for it in document.inputs)
    return TextGrid(
        [
            TextColumn("input", figures=True),
            TextColumn("profile", prose=True),
            TextColumn("accesses", figures=True),
            TextColumn("repeats", figures=True),
            TextColumn("share", figures=True),
        ],
        [
            TextRow(
                (
                    str(number),
                    it.profile,
                    f"{it.accesses:,}",
                    f"{it.repeats:,}",
                    f"{it.repeats * it.accesses / whole:.1%}",
                )
            )
            for number, it in enumerate(document.inputs, 1)
        ],
        f"Inputs, and how often each counts ({document.contexts:,} contexts)",
    )


def scores_table(document: MergeDocument) -> TextGrid:
    """Three rows for each input, by the profiles that the plan was made from."""
    rows = []
    for number, it in enumerate(document.inputs, 1):
        if isinstance(it.score, InputScore):
            for name, words in PLANS.items():
                found = getattr(it.score, name)
                shares = (found.affinity, found.accesses, found.allocations)
                cells = (str(number), words, *(f"{share:.1%}" for share in shares))
                rows.append(TextRow(cells, last=name == "own" and number < len(document.inputs)))
    names = ("affinity", "accesses", "allocations")
    return TextGrid(
        [
            TextColumn("input", figures=True),
            TextColumn("plan from"),
            *(TextColumn(name, figures=True) for name in names),
        ],
        rows,
        "Shares of each input that plans cover",
    )


def remarks(document: MergeDocument) -> list[str]:
    """Whether the inputs agree, and what the profile lacks, a sentence or two each."""
    found = [document.agreement] if document.agreement else []
    if document.apart is not None:
        found.append(_apart(document.apart))
    return [*found, *map(_left_out, document.left_out)]


def _apart(apart: ContextsApart) -> str:
    many = apart.contexts != 1
    return (
        f"The inputs have unlike builds of {', '.join(apart.libraries)}: {apart.contexts:,}"
        f" context{'s' * many} through {'it' if len(apart.libraries) == 1 else 'them'}, with"
        f" {apart.accesses:.1%} of the accesses, {'match' if many else 'matches'} no other input's."
    )


def _left_out(found: LeftOutSection) -> str:
    return f"Without {found.section}: {found.reason}"
