"""Ranges of page colours: `FIRST-LAST/TOTAL`, as in the confiner's colour_range.h."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_TOTAL = 4096
_FORM = re.compile(r"(\d{1,9})-(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True)
class ColourRange:
    """The colours from `low` up to, and without, `high` of `total`."""

    low: int
    high: int
    total: int

    def __contains__(self, frame: int) -> bool:
        return self.low <= frame % self.total < self.high

    def __str__(self) -> str:
        return f"{self.low}-{self.high - 1}/{self.total}"


def parse_colours(text: str) -> ColourRange:
    """`ValueError` with one sentence if the text is not a range of colours."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(f"not a range of colours, such as 0-31/256: {text}")
    first, last, total = map(int, form.groups())
    colours = ColourRange(first, last + 1, total)
    if not 1 <= colours.total <= MAX_TOTAL or colours.total.bit_count() != 1:
        raise ValueError(f"the number of colours is not a power of two up to {MAX_TOTAL}: {text}")
    if colours.high > colours.total:
        raise ValueError(f"there are only {colours.total} colours: {text}")
    if colours.low >= colours.high:
        raise ValueError(f"the range of colours is empty: {text}")
    return colours
