"""Runs the program's own loader in list mode, to find the libraries that it would load."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"^\s+(?:(?P<name>.+?) => )?(?P<path>.*/.+|not found)$")
_ADDRESS = re.compile(r" \(0x[0-9a-f]+\)$")
_IGNORED = re.compile(r"^ERROR: ld\.so: object '(.+?)' from (\S+) cannot be preloaded")
_SECONDS = 60


@dataclass(frozen=True)
class Loading:
    """The loader's output: `libraries` in symbol look-up order, after the program itself.

    `missing` libraries are needed but not found, `ignored` ones could not be preloaded; `failure`
    is the loader's last error message if it failed.
    """

    libraries: tuple[Path, ...]
    missing: tuple[str, ...]
    ignored: tuple[str, ...]
    failure: str


def ask_loader(interpreter: str, program: Path, environment: Mapping[str, str]) -> Loading:
    """The loader's list under this environment; no code of the program is executed.

    The kernel resolves the links that lead to a program, and `$ORIGIN` is beside its file. A loader
    in list mode resolves none, so it gets the file.
    """
    kept = {k: v for k, v in environment.items() if k not in ("LD_AUDIT", "LD_DEBUG")}
    try:
        done = subprocess.run(
            [interpreter, os.path.realpath(program)],
            env={**kept, "LD_TRACE_LOADED_OBJECTS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Loading((), (), (), f"{interpreter} cannot be run: {error}")
    libraries, missing = _read_list(done.stdout)
    complaints = done.stderr.strip().splitlines()
    ignored = [found[1] for line in complaints if (found := _IGNORED.match(line))]
    failure = ""
    if done.returncode:
        failure = complaints[-1] if complaints else f"exit status {done.returncode}"
    return Loading(libraries, missing, tuple(ignored), failure)


def _read_list(text: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    libraries, missing = [], []
    for line in text.splitlines():
        found = _LINE.match(_ADDRESS.sub("", line))
        if found is None:
            continue
        if found["path"] != "not found":
            libraries.append(Path(found["path"]))
        else:
            missing.append(found["name"])
    return tuple(libraries), tuple(missing)


def same_file(one: Path, other: Path) -> bool:
    """Whether both paths lead to one file, as the loader does not resolve links."""
    return one == other or one.resolve() == other.resolve()
