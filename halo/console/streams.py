"""The standard streams, made fit for whatever the shell closed and whatever names are printed."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """A closed standard error takes text and drops it; stdout takes names that are not UTF-8.

    Programs that halo becomes or starts have the same streams as before: Python opens files as
    close-on-exec.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")
