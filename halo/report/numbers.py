"""Human-readable numbers: seconds, bytes, counts and changes."""

from __future__ import annotations

from halo.base.console import durations
from halo.record.progress import count

MINUS = "−"


def seconds(value: float) -> str:
    return f"{durations.seconds(value)} s"


def megabytes(value: float) -> str:
    """Bytes in units of a million; small sizes with two decimals."""
    return f"{value / 1e6:.0f} MB" if value >= 10e6 else f"{value / 1e6:.2f} MB"


def number(value: float) -> str:
    return count(round(value))


def ratio(value: float, before: float) -> float:
    """The value relative to the one before, with three decimals; of nothing, as of 1."""
    return round(value / max(1, before), 3)


def share(value: float) -> str:
    """A share from 0 to 1 as per cent."""
    return f"{100 * value:.1f} %"


def change(value: float, before: float) -> str:
    """The difference from the value before, in per cent with a sign."""
    if not before:
        return "-" if value else "±0 %"
    percent = 100 * (value / before - 1)
    return f"{MINUS if percent < 0 else '+'}{abs(percent):.1f} %"
