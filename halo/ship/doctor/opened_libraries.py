"""Predicts from machine code how a program opens libraries at run time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from halo.base.errors import Unsuitable
from halo.base.settings import Settings
from halo.binary.elf import ElfError
from halo.binary.process.target import examine
from halo.ship.doctor.deep_binding import deep_binding_calls
from halo.ship.doctor.finding import Finding, fine, listed, note
from halo.ship.doctor.loader import ask_loader
from halo.ship.doctor.module import LinkedModule, read_module


def deep_binders(settings: Settings, program: Path) -> list[str]:
    """The modules of a program that open libraries with a constant RTLD_DEEPBIND.

    Files that cannot be read are skipped, as the result is only for a warning.
    """
    try:
        interpreter = examine(program).interpreter
    except Unsuitable:
        return []
    paths = [program, *ask_loader(interpreter, program, settings.environment).libraries]
    found = []
    for path in paths:
        try:
            module = read_module(path)
        except (ElfError, OSError):
            continue
        if not module.is_c_library and module.exported.referred(("dlopen",)):
            found += [module.name] if deep_binding_calls(module) else []
    return found


def examine_opening(modules: Sequence[LinkedModule]) -> Iterator[Finding]:
    """Findings on modules that call dlopen, dlopen with a constant RTLD_DEEPBIND, or dlmopen."""
    callers = [module for module in modules if module.exported.referred(("dlopen",))]
    deep = [module.name for module in callers if deep_binding_calls(module)]
    if deep:
        yield note(
            "RTLD_DEEPBIND",
            f"{listed(deep)} open{'s' if len(deep) == 1 else ''} libraries with RTLD_DEEPBIND:"
            " these use the C library's malloc and free, and an object that halo has placed must"
            " not be freed there",
            "see with --run which libraries these are; open them without the flag",
        )
    elif callers:
        yield fine(
            "dlopen",
            f"called by {listed([m.name for m in callers])}, nowhere with a constant"
            " RTLD_DEEPBIND; --run shows what the opened libraries really use",
        )
    spaces = [module.name for module in modules if module.exported.referred(("dlmopen",))]
    if spaces:
        yield note(
            "dlmopen",
            f"{listed(spaces)} may open libraries in a namespace with a C library of its own, where"
            " halo is not",
            "see with --run whether it does; nothing may be freed on the other side",
        )
