"""Spellings of earlier releases: commands keep working, and options name their replacement."""

from __future__ import annotations

from collections.abc import Collection, Sequence

_STUDIES = ("conflicts", "corun", "hints", "layout", "locality", "colours", "trace", "eval", "heap")
MOVED = {
    **{name: ("study", name) for name in _STUDIES},
    "columns": ("study", "trace", "convert"),
    "offenders": ("study", "trace", "offenders"),
    "sharing": ("study", "trace", "sharing"),
    "split": ("study", "trace", "split"),
    "analyse": ("study", "trace", "analyse"),
    "detect": ("study", "heap", "detect"),
    "litter": ("study", "heap", "litter"),
    "age": ("study", "heap", "age"),
    "baseline": ("study", "eval", "baseline"),
    "evaluate": ("study", "eval", "compare"),
    "simulate": ("study", "eval", "simulate"),
}

_EFFORT = dict.fromkeys(("--conflicts", "--search", "--confine"), "--effort thorough")
REPLACED = {"run": _EFFORT, "bench": _EFFORT}
"""By command, options that it had, with what to write instead."""


def current(words: Sequence[str], of_trace: Collection[str], runs: bool) -> list[str]:
    """The same command in today's spelling.

    `of_trace` are the commands of `halo study trace`, which was a command itself: `runs` says
    whether a program follows.
    """
    first = words[0] if words else ""
    if first == "trace" and runs and not (words[1:] and words[1] in of_trace):
        return [*MOVED["trace"], "run", *words[1:]]
    return [*MOVED.get(first, [first]), *words[1:]] if words else []
