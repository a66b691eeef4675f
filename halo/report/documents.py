"""The files that the page shows beside measurements, by their formats."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput
from halo.base.files.kinds import PROFILE, kind_of
from halo.base.schema.document import DocumentKind, is_of
from halo.registry import DOCUMENTS, load
from halo.report.findings import FindingsBlock

Reader = Callable[[Path], FindingsBlock]


@dataclass(frozen=True)
class Document:
    """A kind of file that the page shows, and what makes a section of one."""

    kind: DocumentKind[Any]
    read: Reader


SHOWN_BY = {
    "simulation document": "plot heap-misses",
    "locality document": "plot miss-rates",
    "sweep document": "plot tidy-sweep",
    PROFILE: "plan",
}
"""By kind of file: the command that takes it, and shows what the page has no section for."""

# By the keys of summaries of --json, which have no format.
SUMMARIES = {
    ("program", "min_speedup"): "a summary of halo check, which has no trials; see its `sentence`.",
    ("program", "between"): "a summary of halo probe, which has no trials; measure with halo run.",
    ("program", "verdict"): "a summary, which lacks the trials; give the results folder itself.",
    ("program", "levels"): "a summary, which lacks the trials; give the results folder itself.",
}


def refuse_unshown(path: Path, halo: str = "halo") -> None:
    """Raises `BadInput` for a file of halo's that the page does not show, with what does.

    `halo`: the command that starts halo.
    """
    if not path.is_file():
        return
    kind = kind_of(path)
    if kind in SHOWN_BY:
        shown = f"{halo} {SHOWN_BY[kind]} {shlex.quote(str(path))}"
        raise BadInput(f"{path} is a halo {kind}, which the page does not show; see: {shown}")
    if not kind and (summary := _summary_of(path)):
        raise BadInput(f"{path} is {summary}")


def _summary_of(path: Path) -> str:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    keys = set(found) if isinstance(found, dict) else set()
    return next((text for needed, text in SUMMARIES.items() if keys.issuperset(needed)), "")


def reader_of(path: Path) -> Reader | None:
    """What reads that file; None if it is no such document."""
    documents: Sequence[Document] = load(DOCUMENTS)
    return next((it.read for it in documents if is_of(path, it.kind)), None)
