"""Draws the slots of the first cache that states with conflict misses use, as recorded."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from halo.record.profile import Conflicts
from halo.record.profile.sections.conflicts import SLOTS, RecordedState
from halo.report.figures.drawing.style import COLOURS, GREY, INK, canvas, footnote, save, style_axes
from halo.studies.conflicts.names import StateNames, label
from halo.studies.conflicts.ranking import conflicting_objects

WIDTH, HEIGHT = 8.0, 3.8
LEGEND_ROW = 0.2
LONGEST = 100
"""Maximum letters of a state in the legend."""
MAX_STATES = len(COLOURS)


def drawn_states(conflicts: Conflicts) -> list[int]:
    """The numbers of the states with a colour of their own."""
    return conflicting_objects(conflicts)[:MAX_STATES]


def draw_slots(conflicts: Conflicts, names: StateNames, ending: str) -> bytes:
    """The uses by slot, stacked by state, and an even spread for comparison."""
    numbers = conflicting_objects(conflicts)
    states = [conflicts.states[number] for number in numbers]
    shown = numbers[:MAX_STATES]
    parts = [(_label(names, number), [conflicts.states[number]]) for number in shown]
    if states[MAX_STATES:]:
        parts.append(("all other states with conflict misses", states[MAX_STATES:]))
    with canvas(WIDTH, HEIGHT + LEGEND_ROW * len(parts)) as drawing:
        axes = drawing.add_subplot()
        _draw(axes, parts, min(SLOTS, conflicts.cache.sets))
        drawing.legend(
            title="Uses of cache slots by states with conflict misses",
            title_fontsize=11,
            alignment="left",
            loc="outside upper left",
            frameon=False,
            fontsize=8,
        )
        footnote(drawing, textwrap.fill(_note(conflicts, len(states)), int(WIDTH * 16)))
        return save(drawing, ending)


def _draw(axes: Axes, parts: Sequence[tuple[str, Sequence[RecordedState]]], available: int) -> None:
    style_axes(axes)
    counts = [[_uses(states, slot) for slot in range(SLOTS)] for _, states in parts]
    total = max(1, sum(map(sum, counts)))
    below = [0.0] * SLOTS
    for at, ((name, _), uses) in enumerate(zip(parts, counts, strict=True)):
        shares = [100 * count / total for count in uses]
        colour = COLOURS[at] if at < MAX_STATES else GREY
        axes.bar(range(SLOTS), shares, width=0.9, bottom=below, color=colour, label=name)
        below = [low + share for low, share in zip(below, shares, strict=True)]
    axes.axhline(100 / available, color=INK, linestyle="--", linewidth=1, label="spread")
    axes.set_xlim(-0.7, SLOTS - 0.3)
    axes.set_ylim(0, 1.08 * max(*below, 100 / available))
    axes.xaxis.set_major_locator(MultipleLocator(8))
    axes.set_xlabel("slot of the first cache")
    axes.set_ylabel("share of uses, %")


def _uses(states: Sequence[RecordedState], slot: int) -> int:
    return sum(state.by_slot[slot] for state in states if slot < len(state.by_slot))


def _label(names: StateNames, number: int) -> str:
    name = label(number, names[number])
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _note(conflicts: Conflicts, states: int) -> str:
    cache = conflicts.cache
    found = "1 state has" if states == 1 else f"{states} states have"
    return (
        f"{cache.name} of {cache.sets} sets x {cache.ways} ways; a slot is a 64th of the sets."
        f" {found} conflict misses; memory outside tracked objects is left out. Bars: as recorded;"
        " dashed line: the same uses spread over all slots."
    )
