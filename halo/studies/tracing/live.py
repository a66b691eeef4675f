"""Runs an instrumented program and converts its trace to a dataset while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from halo.base.settings import Settings
from halo.binary.process.foreground import Ending, run_in_foreground
from halo.binary.process.target import Target
from halo.studies.tracing.columns import check_free
from halo.studies.tracing.reader import check_reader

# As the launcher does: this checkout's code, independent of PYTHON* and the current folder.
START = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from halo.cli.main import main
sys.exit(main())"""


def own_command(settings: Settings) -> list[str]:
    """The command that starts this checkout's halo."""
    return [sys.executable, "-I", "-c", START, str(settings.repository)]


def run_live(
    settings: Settings,
    target: Target,
    arguments: Sequence[str],
    folder: Path,
    options: Sequence[str],
) -> Ending:
    """Runs the program in the foreground; a second halo converts its trace from a pipe.

    Only the first process is traced, as two cannot share a pipe.
    """
    check_reader(settings)
    check_free(folder)
    end, begin = os.pipe()
    converter = subprocess.Popen(
        [*own_command(settings), "study", "trace", "convert", "-", "-o", str(folder), *options],
        stdin=end,
        # A signal from the terminal that ends the program must not end the conversion.
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
