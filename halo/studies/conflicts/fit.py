"""Whether a plan can spread blocks over the sets of the recorded cache."""

from __future__ import annotations

from halo.plan.layout import MAX_WAY, MIN_WAY
from halo.record.profile import Conflicts

LINE = 64
"""Bytes of a cache line, at which the runtime aligns blocks."""


def misfit(conflicts: Conflicts) -> str:
    """What is wrong with the first cache of the recorded machine; empty if plans can have it."""
    way, line = conflicts.way_bytes, conflicts.machine.line
    cache = "the first cache of the recorded machine"
    if line != LINE:
        return f"{cache} has lines of {line:,} bytes; plans need {LINE}"
    if not 1 << MIN_WAY <= way <= 1 << MAX_WAY or way & (way - 1):
        return (
            f"{cache} has ways of {way:,} bytes; plans need a power"
            f" of two from {1 << MIN_WAY:,} to {1 << MAX_WAY:,}"
        )
    return ""
