"""Checks the program's own file: its headers, and the refusals that all commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from halo.base.errors import HaloError
from halo.binary.elf import ElfError
from halo.binary.process.target import (
    Anatomy,
    Target,
    check_anatomy,
    check_privileges,
    check_suitable,
)
from halo.ship.doctor.finding import Finding, fine, note, refusal, refusal_of
from halo.ship.doctor.module import read_module


def describe(anatomy: Anatomy) -> Iterator[Finding]:
    """A finding for each header."""
    linked = f"dynamic, loaded by {anatomy.interpreter}" if anatomy.interpreter else "static"
    symbols = "stripped: the plan names addresses" if anatomy.stripped else "yes"
    yield fine("machine", f"{anatomy.machine.removeprefix('EM_')}, {anatomy.bits} bits")
    yield fine("linked", linked)
    yield fine("position-independent", "yes" if anatomy.position_independent else "no")
    yield fine("symbols", symbols)
    if anatomy.build_id:
        yield fine("build-id", anatomy.build_id)
    else:
        yield note(
            "build-id",
            "none: its own call sites cannot be recognised, its libraries' can",
            "link it with -Wl,--build-id",
        )
    if anatomy.has_frame_rules:
        yield fine("frame rules", ".eh_frame")
    else:
        yield note(
            "frame rules",
            "no .eh_frame: its callers cannot be walked",
            "compile it with -fasynchronous-unwind-tables",
        )


def find_unsuitable(target: Target, anatomy: Anatomy | None) -> Finding | None:
    """The refusal of `halo exec` and other commands, if any; no anatomy: the file is damaged.

    Go programs have another remedy. `own_malloc` reports a malloc in the program itself.
    """
    try:
        if anatomy is None:
            check_suitable(target)
        else:
            check_privileges(target)
            check_anatomy(target, anatomy)
    except HaloError as error:
        if anatomy is not None and anatomy.interpreter and anatomy.sanitizer:
            return refusal_of("sanitizer", error)
        if anatomy is not None and anatomy.own_malloc and anatomy.interpreter:
            return None
        if anatomy is not None and not anatomy.interpreter and _is_go(target.path):
            return refusal(
                "suitable",
                f"{target.name} is a static Go program, which has a heap of its own and never"
                " calls malloc",
                "none: halo cannot place objects of Go's heap",
            )
        return refusal_of("suitable", error)
    return None


def _is_go(path: Path) -> bool:
    try:
        return read_module(path).is_go
    except ElfError:
        return False
