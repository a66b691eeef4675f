"""Names of a trace in messages."""

from __future__ import annotations

from collections.abc import Sequence

MAX_NAMED = 10
"""Names that a message lists."""


def first_names(names: Sequence[str]) -> str:
    """The first names, separated by commas; `none` if there are none."""
    more = ", ..." if len(names) > MAX_NAMED else ""
    return (", ".join(names[:MAX_NAMED]) or "none") + more
