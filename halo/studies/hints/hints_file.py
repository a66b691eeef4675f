"""Writes the file of hints for `halo-cc --halo-hints` (docs/hints.md, hint_rules.h)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.base.files.atomic import write_atomically
from halo.studies.hints.contexts import Fields, fields_of
from halo.studies.hints.document import HintDimension, TypeHint

HEAD = "halo-hints 1"
MAX_PATH = 2
"""Offsets of a value: in the object, and behind one pointer."""
MAX_CONTEXTS = 64


def hints_text(found: Sequence[TypeHint]) -> str:
    """The types with a hint that the compiler can pass; empty if there are none."""
    contexts: dict[Fields, int] = {}
    lines = []
    for one in found:
        if not one.hint or not all(map(_is_passed, one.hint)):
            continue
        fields = fields_of(one.hint)
        if fields not in contexts and len(contexts) == MAX_CONTEXTS:
            continue
        context = contexts.setdefault(fields, len(contexts))
        lines.append(f"type {context} {one.type}")
        for dim in one.hint:
            offsets = " ".join(map(str, dim.path))
            lines.append(f"key {dim.scalar} {dim.width!r} {offsets}")
    return "\n".join([HEAD, *lines, ""]) if lines else ""


def _is_passed(dim: HintDimension) -> bool:
    return 0 < len(dim.path) <= MAX_PATH and bool(dim.scalar)


def write_hints(found: Sequence[TypeHint], path: Path) -> bool:
    """Writes the file; false, and no file, if no type has a hint that the compiler can pass."""
    text = hints_text(found)
    if text:
        write_atomically(path, text.encode())
    return bool(text)
