"""Times in seconds as text: to the millisecond, or shorter ones to three significant digits."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    return _text(value, value)


def with_spread(middle: float, half: float) -> str:
    """A time and half its range, with as many decimals: `1.204 ± 0.013`."""
    return f"{_text(middle, middle)} ± {_text(half, middle)}"


def quartiles(low: float, high: float) -> str:
    return f"{_text(low, low)}–{_text(high, low)}"


def _text(value: float, scale: float) -> str:
    decimals = 2 - math.floor(math.log10(scale)) if scale > 0 else 0
    return f"{value:.{max(3, min(decimals, 6))}f}"
