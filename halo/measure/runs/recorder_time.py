"""Predicts how long the recording of a run takes, and the plans that are made from it.

The recorder's time is that of instructions, and a native second has more of them in programs with
much code than in loops that wait for memory. Much code also takes long to translate, and its
symbols take long to read. Sleeping takes as long as otherwise. The recorder's two processes are
slower if other programs leave them less than two processors. The constants are rounded from
recordings of eighteen programs on a machine with two processors: thirteen of them with another
program on one of these, and all of them without.
"""

from __future__ import annotations

import os
from pathlib import Path

from halo.binary.alignment import is_stored
from halo.binary.alignment.libraries import libraries_of
from halo.binary.elf.image import ElfError, ElfImage

MUCH_CODE = 256 << 10  # bytes
START, PER_SECOND = 2.8, 1.8  # seconds, and seconds for a native second
START_MUCH, PER_SECOND_MUCH = 3.6, 8.2  # with much code
PLANNING_PER_MEGABYTE = 0.3  # seconds from a recording of that size to its plans
SURVEY_PER_MEGABYTE = 0.2  # seconds for each megabyte of code whose alignment is not yet known
PROCESSES = 2  # of the recorder: the program's, and the one that reads its events
SHARED = 1.2  # times as long if these share a processor with other programs
_LANGUAGE = ("ld-linux", "libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so")
"""How the names of libraries begin that programs have for their language: little of them runs."""
_PT_LOAD, _EXECUTABLE = 1, 1


def recording_seconds(
    program: Path, computing: float, waiting: float = 0.0, is_shared: bool = False
) -> float:
    """Seconds of the recording of a run that computes and waits for these seconds otherwise.

    `is_shared`: other programs use the recorder's processors.
    """
    start, per_second = START, PER_SECOND
    if code_bytes(program) >= MUCH_CODE:
        start, per_second = START_MUCH, PER_SECOND_MUCH
    return (start + per_second * computing) * (SHARED if is_shared else 1.0) + waiting


def seconds_under(slowdown: float, computing: float) -> float:
    """Seconds of the recording under an engine of which little more is known."""
    return START + slowdown * computing


def planning_seconds(program: Path, recorded_bytes: int) -> float:
    """Seconds from the end of a recording to its plans; those of most programs take none.

    The alignment that large libraries need takes long to prove at the first plan for one of them.
    """
    program = program.resolve()
    code = {program, *(libraries_of(program) or ())}
    new = sum(_size_of_code(path) for path in code if not _is_surveyed(path))
    return (PLANNING_PER_MEGABYTE * recorded_bytes + SURVEY_PER_MEGABYTE * new) / 1e6


def _is_surveyed(path: Path) -> bool:
    try:
        return is_stored(path)
    except OSError:
        return True  # no survey can be made


def processors_are_shared(others: float) -> bool:
    """Whether other programs leave the recorder fewer processors than it has processes.

    `others`: the processors that they keep busy. Half a processor may be missing.
    """
    return len(os.sched_getaffinity(0)) - others < PROCESSES - 0.5


def code_bytes(program: Path) -> int:
    """The size of the code of a program and its own libraries; what cannot be read counts as 0."""
    program = program.resolve()  # what $ORIGIN is beside
    linked = libraries_of(program) or ()
    own = [each for each in linked if not each.name.startswith(_LANGUAGE)]
    return sum(map(_size_of_code, {program, *own}))


def _size_of_code(path: Path) -> int:
    try:
        segments = ElfImage(path).segments
    except ElfError:
        return 0
    loaded = [each for each in segments if each.kind == _PT_LOAD and each.flags & _EXECUTABLE]
    return sum(each.file_size for each in loaded)
