"""Prints what `halo study locality` found: objects, pages, contexts, polluters, and the verdict."""

from __future__ import annotations

from halo.base.console.terminal import (
    TextColumn,
    TextGrid,
    TextRow,
    make_console,
    show_grid,
    show_prose,
)
from halo.studies.pollution.locality.document import ContextLocality, Locality
from halo.studies.pollution.locality.verdict import Verdict

CUT_SHORT = "The trace is cut short: the process was killed, or its disk was full."
MAX_ROWS = 12
MAX_VARIANCE = 0.1
"""Of the miss rates of a context's objects that are alike (section 3.2)."""


def show_locality(found: Locality, verdict: Verdict) -> None:
    """Prints to stdout."""
    console = make_console()
    for sentence in (opening(found), alike(found), watched(found)):
        show_prose(console, sentence)
    if verdict.polluting:
        show_grid(console, polluters_table(verdict))
        console.print()
    if not found.complete:
        show_prose(console, CUT_SHORT)
    show_prose(console, verdict.sentence)


def opening(found: Locality) -> str:
    """The accesses of the last level, and objects by their miss rate."""
    rated = sum(found.objects)
    rate = found.misses / max(1, found.accesses)
    text = (
        f"The last-level cache of {found.cache_bytes / 2**20:g} MiB has {found.accesses:,}"
        f" accesses, of which {rate:.0%} miss."
    )
    if not rated:
        return f"{text} No object has enough of them for a miss rate."
    low, high = found.objects[0] / rated, found.objects[-1] / rated
    return (
        f"{text} Of {rated:,} objects with a miss rate, {low:.0%} miss in fewer than a tenth of"
        f" their accesses, and {high:.0%} in nine tenths or more."
    )


def alike(found: Locality) -> str:
    """How alike pages of an object, and objects of a context, are."""
    several = [one for one in found.contexts if one.rated > 1]
    different = sum(one.variance > MAX_VARIANCE for one in several)
    near = found.near_pages / max(1, found.pages)
    pages = (
        f"Of {found.pages:,} pages of larger objects, {near:.1%} miss like their object, within"
        " 0.1."
        if found.pages
        else "No object of several pages has a miss rate."
    )
    return (
        f"{pages} Of {len(several):,} contexts with several such objects, {different:,} have miss"
        f" rates with a variance above {MAX_VARIANCE}."
    )


def watched(found: Locality) -> str:
    """What the watch would have done."""
    counts = found.sampled
    judged = f"The watch watches {counts.watched:,} objects, and judges {counts.samples:,} pages."
    if not found.predicted:
        return f"{judged} No context has a second object to predict."
    return (
        f"{judged} It maps {found.right / found.predicted:.1%} of {found.predicted:,} predicted"
        " objects as a watch of every object would."
    )


def polluters_table(verdict: Verdict) -> TextGrid:
    """The polluting contexts, those with most misses first."""
    named = any(one.name for _, one in verdict.polluting)
    return TextGrid(
        [
            TextColumn("context"),
            TextColumn("objects", figures=True),
            TextColumn("MiB allocated", figures=True),
            TextColumn("MiB at the peak", figures=True),
            TextColumn("miss rate", figures=True),
            TextColumn("of all misses", figures=True),
            *([TextColumn("allocated by")] if named else []),
        ],
        [
            TextRow((*_figures(number, one, verdict.found.misses), *([one.name] if named else [])))
            for number, one in verdict.polluting[:MAX_ROWS]
        ],
        "Contexts that pollute, those with most misses first"
        + (
            f" ({MAX_ROWS} of {len(verdict.polluting)})"
            if len(verdict.polluting) > MAX_ROWS
            else ""
        ),
    )


def _figures(number: int, one: ContextLocality, misses: int) -> tuple[str, ...]:
    return (
        str(number),
        f"{one.objects:,}",
        f"{one.bytes / 2**20:.1f}",
        f"{one.peak_bytes / 2**20:.1f}",
        f"{one.misses / one.accesses:.1%}",
        f"{one.misses / max(1, misses):.1%}",
    )
