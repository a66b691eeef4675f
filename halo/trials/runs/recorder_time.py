"""Predicts how long the recording of a run takes.

The recorder's time is that of instructions, and a native second has more of them in programs with
much code than in loops that wait for memory. Much code also takes long to translate, and its
symbols take long to read. Sleeping takes as long as otherwise. The constants are rounded from
recordings of thirteen programs.
"""

from __future__ import annotations

from pathlib import Path

from halo.alignment.libraries import libraries_of
from halo.elf.image import ElfError, ElfImage

MUCH_CODE = 256 << 10  # bytes
START, PER_SECOND = 1.6, 3.6  # seconds, and seconds for a native second
START_MUCH, PER_SECOND_MUCH = 4.2, 10.0  # with much code
_LANGUAGE = ("ld-linux", "libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so")
"""How the names of libraries begin that programs have for their language: little of them runs."""
_PT_LOAD, _EXECUTABLE = 1, 1


def recording_seconds(program: Path, computing: float, waiting: float = 0.0) -> float:
    """Seconds of the recording of a run that computes and waits for these seconds otherwise."""
    if code_bytes(program) < MUCH_CODE:
        return START + PER_SECOND * computing + waiting
    return START_MUCH + PER_SECOND_MUCH * computing + waiting


def code_bytes(program: Path) -> int:
    """The size of the code of a program and its own libraries; what cannot be read counts as 0."""
    linked = libraries_of(program) or ()
    own = [each for each in linked if not each.name.startswith(_LANGUAGE)]
    return sum(map(_size_of_code, {program.resolve(), *own}))


def _size_of_code(path: Path) -> int:
    try:
        segments = ElfImage(path).segments
    except ElfError:
        return 0
    loaded = [each for each in segments if each.kind == _PT_LOAD and each.flags & _EXECUTABLE]
    return sum(each.file_size for each in loaded)
