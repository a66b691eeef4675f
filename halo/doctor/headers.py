"""What the program's own file says: its headers, and the verdict that all commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from halo.doctor.finding import Finding, fine, note, refusal, refusal_of
from halo.doctor.module import read_module
from halo.elf import ElfError
from halo.errors import HaloError
from halo.target import Anatomy, Target, check_anatomy, check_privileges, check_suitable


def describe(anatomy: Anatomy) -> Iterator[Finding]:
    """The headers, one by one."""
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
    """The refusal that `halo exec` and the others would end with; no anatomy: the file is damaged.

    Programs of Go's get another way out. A malloc in the program itself is left to those who look
    at every allocator.
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
                f"{target.name} is a static program of Go's, which has a heap of its own and never"
                " calls malloc",
                "there is none: halo cannot help Go's heap",
            )
        return refusal_of("suitable", error)
    return None


def _is_go(path: Path) -> bool:
    try:
        return read_module(path).is_go
    except ElfError:
        return False
