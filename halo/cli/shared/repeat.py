"""The command line of a measurement, to be typed again for a better answer."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence

from halo.measure.inputs.question import OUTPUTS, without_options


def again(halo: str, options: argparse.Namespace, rest: Sequence[str], trials: str) -> str:
    """What was typed, with that number of trials; with as many as before if it is empty."""
    new = {"--trials": trials} if trials else {}
    # The folder has a finished measurement by now, and a document is another output of the same.
    words = without_options(options.words, (*new, *OUTPUTS))
    added = [word for pair in new.items() for word in pair]
    return shlex.join([halo, *words, *added, "--", *rest])
