"""Spellings of earlier releases: commands keep working, and options name their replacement."""

from __future__ import annotations

from collections.abc import Collection, Sequence

MOVED = {
    "columns": ("trace", "convert"),
    "offenders": ("trace", "offenders"),
    "sharing": ("trace", "sharing"),
    "split": ("trace", "split"),
    "analyse": ("trace", "analyse"),
    "detect": ("heap", "detect"),
    "litter": ("heap", "litter"),
    "age": ("heap", "age"),
    "baseline": ("eval", "baseline"),
    "evaluate": ("eval", "compare"),
    "simulate": ("eval", "simulate"),
}

_EFFORT = dict.fromkeys(("--conflicts", "--search", "--confine"), "--effort thorough")
REPLACED = {"run": _EFFORT, "bench": _EFFORT}
"""By command, options that it had, with what to write instead."""


def current(words: Sequence[str], of_trace: Collection[str], runs: bool) -> list[str]:
    """The same command in today's spelling.

    `of_trace` are the commands of `halo trace`, which was a command itself: `runs` says whether a
    program follows.
    """
    first = words[0] if words else ""
    if first in MOVED:
        return [*MOVED[first], *words[1:]]
    if first == "trace" and runs and not (words[1:] and words[1] in of_trace):
        return ["trace", "run", *words[1:]]
    return list(words)
