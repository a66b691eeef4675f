"""Runs an instrumented program and turns its trace into columns while it comes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from halo.foreground import Ending, run_in_foreground
from halo.settings import Settings
from halo.target import Target
from halo.tracing.columns import check_free
from halo.tracing.reader import check_reader

# As the launcher does: of this checkout, whatever PYTHON* variables and the current folder say.
START = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from halo.cli import main
sys.exit(main())"""


def own_command(settings: Settings) -> list[str]:
    """What starts this very halo."""
    return [sys.executable, "-I", "-c", START, str(settings.repository)]


def run_live(
    settings: Settings,
    target: Target,
    arguments: Sequence[str],
    folder: Path,
    options: Sequence[str],
) -> Ending:
    """The program runs in the foreground; a halo of its own converts what comes by a pipe.

    Only the first process is traced: two cannot share a pipe.
    """
    check_reader(settings)
    check_free(folder)
    end, begin = os.pipe()
    converter = subprocess.Popen(
        [*own_command(settings), "columns", "-", "-o", str(folder), *options],
        stdin=end,
        # What ends the program from the terminal must not end the conversion.
        start_new_session=True,
    )
    os.close(end)
    os.set_inheritable(begin, True)
    environment = {**settings.environment, "HALO_TRACE": f"pipe:{begin}"}
    command = [target.name, *arguments]
    try:
        ending = run_in_foreground(str(target.path), command, environment, lambda: None)
    finally:
        os.close(begin)
        converter.wait()
    return ending
