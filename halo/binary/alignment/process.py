"""Proves that the code of a whole process accepts heap objects at multiples of eight."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from halo.base.errors import HaloError
from halo.binary.alignment.libraries import libraries_of
from halo.binary.alignment.model import CheckedModule, Proof, RecordedModule, unproved
from halo.binary.alignment.survey import Survey, survey_module
from halo.binary.elf import build_id_of
from halo.binary.elf.digest import digest_of
from halo.binary.elf.image import ElfError, ElfImage
from halo.binary.process.allocators import KNOWN, find_allocator

_MAX_NAMES = 256
"""The maximum of names that are searched in other modules; more count as used."""
_LOADED_BY_THE_C_LIBRARY = ("libgcc_s.so.1",)
"""On the first cancellation of a thread or the first backtrace."""
_OWN_LIBRARIES = ("libhalo-guest.so", "libhalo-logging.so")
"""Libraries that recording adds to the process."""


def prove_alignment(
    program: RecordedModule,
    recorded: Iterable[RecordedModule],
    trust_loaded: bool = False,
) -> Proof:
    """The alignment that the code of a process with `program` requires of its heap objects.

    `recorded` are the modules of the recorded process. If the program is not linked to one of them,
    it was loaded at run time, and another run may load other modules with unknown code. Then the
    proof fails unless `trust_loaded` is set.
    """
    path = Path(program.path)
    if not program.build_id or build_id_of(path) != program.build_id:
        return unproved(f"{path.name} is missing or has changed since it was recorded")
    linked = libraries_of(path)
    if linked is None:
        return unproved(f"the dynamic linker does not list the libraries of {path.name}")
    files = {path, *linked}
    loaded = sorted(_loaded_at_run_time(recorded, files))
    if loaded and not trust_loaded:
        return unproved(
            f"{path.name} loads libraries at run time ({loaded[0].name}"
            f"{f' and {len(loaded) - 1} more' if loaded[1:] else ''}), and may load others"
        )
    return _prove([*sorted(files), *loaded], _beside_allocators(files))


def _loaded_at_run_time(recorded: Iterable[RecordedModule], linked: set[Path]) -> set[Path]:
    """The modules that the program is not linked to, including those whose files are gone."""
    known = {build_id_of(path) for path in linked}
    return {
        Path(module.path)
        for module in recorded
        if module.build_id not in known
        and module.path.startswith("/")
        and Path(module.path).name not in (*_LOADED_BY_THE_C_LIBRARY, *_OWN_LIBRARIES)
    }


def _beside_allocators(known: set[Path]) -> list[Path]:
    """The libraries that another next allocator is linked to, and those that libc itself loads.

    The allocators themselves are left out, as they access no memory but their own.
    """
    found: set[Path] = set()
    for name, libraries in KNOWN.items():
        if not libraries:
            continue
        try:
            library = find_allocator(name).library
        except HaloError:
            continue
        if library is not None:
            found.update(libraries_of(library) or ())
    beside = {each for path in known for each in _siblings(path)}
    return sorted((found | beside) - known)


def _siblings(path: Path) -> Iterable[Path]:
    if path.name.startswith("libc.so"):
        for name in _LOADED_BY_THE_C_LIBRARY:
            if (path.parent / name).is_file():
                yield Path(os.path.realpath(path.parent / name))


def _prove(required: Sequence[Path], optional: Sequence[Path]) -> Proof:
    """Proves each module; `optional` ones that fail are left out.

    In a process with a module that is not in the proof the runtime aligns to 16 bytes.
    """
    modules = []
    everything = [*required, *optional]
    for path in everything:
        try:
            survey = survey_module(path)
        except (OSError, ElfError):
            obstacle = f"{path.name} cannot be read"
        else:
            obstacle = _obstacle(survey, everything)
        if not obstacle:
            code = digest_of(path).code
            modules.append(CheckedModule(survey.build_id, survey.relaxations, str(path), code))
        elif path in required:
            return unproved(obstacle)
    return Proof(tuple(modules))


def _obstacle(survey: Survey, others: Sequence[Path]) -> str:
    """The reason why the module's code may access a misaligned object; empty if it cannot."""
    name = Path(survey.path).name
    if not survey.build_id:
        return f"{name} has no build-id"
    if not survey.rigid or not _is_entered(survey, others):
        return ""
    count = len(survey.rigid)
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{name} has code that demands 16 bytes and cannot be relaxed ({survey.rigid[0]}{more})"


def _is_entered(survey: Survey, others: Sequence[Path]) -> bool:
    """Whether another module may call a function of the survey that leads to its rigid code.

    For that it needs the function's name, to be linked or for `dlsym`. Linkers merge names with
    equal ends, so the search is for the end of a string.
    """
    if survey.names is None or len(survey.names) > _MAX_NAMES:
        return True
    wanted = [name.encode() + b"\0" for name in sorted(survey.names)]
    for path in others:
        if str(path) == survey.path:
            continue
        try:
            content = ElfImage(path).data
        except ElfError:
            return True
        if any(content.find(name) >= 0 for name in wanted):
            return True
    return False
