"""Tells a renamed build from another program: by the functions in the reviewed stacks of a plan."""

from __future__ import annotations

import re
from pathlib import Path

from halo.binary.elf import ElfError
from halo.binary.elf.image import ElfImage
from halo.binary.elf.symbol_table import table_of_section
from halo.plan.model import Plan

ENOUGH = 0.5  # share of the functions that another build has at least
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_EVERYWHERE = frozenset({"main", "_start"})


def has_its_functions(plan: Plan, program: Path) -> bool:
    """Whether the program's symbols or debug information have most functions of the stacks."""
    names = _functions(plan)
    try:
        strings = _strings(ElfImage(program))
    except (ElfError, OSError):
        return False
    found = sum(_is_in(strings, name) for name in names)
    return bool(names) and found >= ENOUGH * len(names)


def _functions(plan: Plan) -> set[str]:
    """The last identifier of each function, without scopes, parameters and template arguments."""
    groups = plan.review.groups if plan.review is not None else ()
    frames = {frame for group in groups for member in group.contexts for frame in member.stack}
    plain = [re.split(r"[(<+]| at ", frame)[0] for frame in frames]
    found = {_IDENTIFIER.findall(name)[-1] for name in plain if _IDENTIFIER.search(name)}
    return {name for name in found - _EVERYWHERE if not name.startswith("__")}


def _strings(image: ElfImage) -> bytes:
    """The names of symbols, and those of debug information, which also has inlined functions."""
    section = image.section(".debug_str")
    inlined = b"" if section is None else image.contents(section)
    return table_of_section(image, ".symtab").strings + b"\0" + inlined


def _is_in(strings: bytes, name: str) -> bool:
    """Whether a symbol has that name, as it is or mangled."""
    plain = name.encode()
    return b"\0" + plain + b"\0" in strings or str(len(plain)).encode() + plain in strings
