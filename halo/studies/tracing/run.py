"""Runs an instrumented program and writes its trace."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from elftools.elf.elffile import ELFFile

from halo.base.errors import BadInput, Unsuitable
from halo.base.files.destination import file_behind
from halo.binary.process.foreground import Ending, run_in_foreground
from halo.binary.process.target import Target, examine

VARIABLE = "HALO_TRACE"
LIBRARY = "libhalo-logging.so"
_SITES = "halo_sites"


def check_instrumented(target: Target) -> None:
    """Raises `Unsuitable` unless the program or a library of it was built with the wrappers."""
    with target.path.open("rb") as stream:
        if ELFFile(stream).get_section_by_name(_SITES) is not None:
            return
    loader = examine(target.path).interpreter
    file = os.path.realpath(target.path)  # what $ORIGIN is beside
    listing = subprocess.run(
        [loader, "--list", file], capture_output=True, text=True, errors="replace", check=False
    )
    if LIBRARY not in listing.stdout:
        raise Unsuitable(f"{target.name} is not instrumented: build it with halo-cc or halo-c++.")


def run_traced(
    target: Target, arguments: list[str], environment: Mapping[str, str], request: str
) -> Ending:
    """Runs the program in the foreground; `request` is the value of HALO_TRACE (docs/cli.md)."""
    return run_in_foreground(
        str(target.path), arguments, {**environment, VARIABLE: request}, lambda: None
    )


def trace_file(output: Path) -> Path:
    """The file to write, behind symbolic links; raises `BadInput` if it is not a regular one."""
    try:
        file = file_behind(output)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror or error}.") from error
    if file is None:
        raise BadInput(
            f"{output} is not a regular file, which a trace needs; --none writes nothing."
        )
    return file


class Drafts:
    """The temporary names of a run's traces, so that older traces stay until it has ended.

    They contain the process id, as another run may write the same output: the last one stays.
    """

    def __init__(self, output: Path) -> None:
        self._output = output
        self.path = self._output.with_name(f".{output.name}.{os.getpid()}.new")

    def begin(self) -> None:
        """Removes files of earlier runs that were killed, and of an earlier process of this id."""
        name = re.compile(rf"\.{re.escape(self._output.name)}\.(\d{{1,7}})\.new(\.[\d.]+)?")
        for path in self._output.parent.iterdir():
            found = name.fullmatch(path.name)
            if found and (int(found[1]) == os.getpid() or not _is_alive(int(found[1]))):
                path.unlink(missing_ok=True)

    def publish(self) -> list[Path]:
        """Renames the traces to their final names, the program's first; empty if it wrote none."""
        if not self.path.exists():
            return []
        published = [self.path.replace(self._output)]
        for path in self._of_children():
            ending = path.name.removeprefix(self.path.name)
            published.append(path.replace(self._output.with_name(self._output.name + ending)))
        return published

    def _of_children(self) -> list[Path]:
        prefix = f"{self.path.name}."
        return sorted(
            path
            for path in self.path.parent.iterdir()
            if path.name.startswith(prefix)
            and path.name.removeprefix(prefix).replace(".", "").isdigit()
        )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        pass
    return True
