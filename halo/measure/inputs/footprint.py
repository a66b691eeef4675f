"""Warns if a plan is chosen at one footprint and used at another one."""

from __future__ import annotations

MAX_FACTOR = 4
"""Footprints that differ by more are not alike: other caches and other page sizes decide."""


def footprint_warning(training: int, reference: int) -> str:
    """A sentence if the peaks of memory differ by more than `MAX_FACTOR`; else empty.

    Both are in bytes: of the input that plans are raced on, and of that of the answer.
    """
    low, high = sorted((training, reference))
    if low <= 0 or high <= MAX_FACTOR * low:
        return ""
    other = "larger" if training < reference else "smaller"
    return (
        f"The plan is chosen at a peak memory of {_megabytes(training)} and used at"
        f" {_megabytes(reference)}: a {other} measured input would show whether it helps there,"
        " too."
    )


def _megabytes(count: int) -> str:
    """As the table of `halo run` has it; two figures below 10 MB."""
    megabytes = count / 1e6
    return f"{megabytes:.0f} MB" if megabytes >= 10 else f"{megabytes:.1f} MB"
