"""The command line of a measurement, to be typed again for a better answer."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

# The folder has a finished measurement by now, and a document is another output of the same.
_DROPPED = ("--results", "--json")


def again(halo: str, options: argparse.Namespace, rest: Sequence[str], trials: str) -> str:
    """What was typed, with that number of trials; with as many as before if it is empty."""
    new = {"--trials": trials} if trials else {}
    words, given = [], iter(options.words)
    for word in given:
        name, equals, _ = word.partition("=")
        if name in new or name in _DROPPED:
            if not equals:
                next(given, None)
        else:
            words.append(word)
    added = [word for pair in new.items() for word in pair]
    return shlex.join([halo, *words, *added, "--", *rest])
