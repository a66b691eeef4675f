"""Lists the files that the dynamic linker loads for a program, by its own output."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from halo.binary.elf.image import ElfError, ElfImage

_PT_INTERP = 3
_DEFAULT_INTERPRETER = "/lib64/ld-linux-x86-64.so.2"
_LISTED = re.compile(r"^\s*(?:\S+ => )?(/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)
_SECONDS = 60


def libraries_of(path: Path) -> tuple[Path, ...] | None:
    """The libraries that are loaded with the program or library at `path`, without itself.

    None if the dynamic linker refuses the file, or does not find one of the libraries.
    """
    interpreter = _interpreter_of(path)
    try:
        done = subprocess.run(
            (interpreter, "--list", str(path)),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if "=> not found" in done.stdout:
        return None
    found = {Path(os.path.realpath(name)) for name in _LISTED.findall(done.stdout)}
    return tuple(sorted(found | {Path(os.path.realpath(interpreter))}))


def _interpreter_of(path: Path) -> str:
    try:
        image = ElfImage(path)
    except ElfError:
        return _DEFAULT_INTERPRETER
    segment = image.segment(_PT_INTERP)
    if segment is None:
        return _DEFAULT_INTERPRETER
    name = image.data[segment.offset : segment.offset + segment.file_size]
    return name.rstrip(b"\0").decode("utf-8", "replace")
