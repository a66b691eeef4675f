"""The contexts of an order file: how many objects each has, and its functions if they are known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from halo.base.console.terminal import TextColumn, TextGrid, TextRow
from halo.record.profile import OBJECT_TRACE, Profile
from halo.record.profile.frame_names import name_frames
from halo.record.profile.site_labels import distinct_labels

MAX_ROWS = 12


def contexts_table(order: Path, profile: Profile | None) -> TextGrid:
    """The contexts with most objects in the file that `halo-layout --order` wrote."""
    lines = order.read_text("utf-8").splitlines()[1:]
    counts = Counter(int(line.split(maxsplit=1)[0]) for line in lines)
    largest = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
    names = {} if profile is None else names_of(profile)
    return TextGrid(
        [
            TextColumn("context"),
            TextColumn("objects", figures=True),
            *([TextColumn("allocated by")] if names else []),
        ],
        [
            TextRow((str(number), f"{count:,}", *([names.get(number, "")] if names else [])))
            for number, count in largest[:MAX_ROWS]
        ],
        f"Contexts in {order}, those with most objects first",
    )


def names_of(profile: Profile) -> dict[int, str]:
    """The functions of each context, by its number in the object trace."""
    trace = OBJECT_TRACE.of(profile)
    if trace is None:
        return {}
    stacks = {number: list(profile.stack(context)) for context, number in trace.contexts}
    frames = name_frames(profile, {frame for stack in stacks.values() for frame in stack})
    return distinct_labels({at: [frames[it] for it in stack] for at, stack in stacks.items()})
