"""The JSON of `halo split`, read back: classes, and which of their fields are hot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from halo.results.analysis import AnalysisResult, section_of
from halo.results.document import Damaged, count, flag, optional, text

PADDING = "padding"
CLASSES = "classes"


@dataclass(frozen=True)
class FieldWeight:
    """A field: the accesses to it are its weight; `cold` is None where none was marked."""

    name: str
    type: str
    offset: int
    bytes: int
    accesses: int
    cold: bool | None


@dataclass(frozen=True)
class SplitClass:
    """A class of the result; the texts are empty and `hot_bytes` 0 where it is not split."""

    label: str
    place: str
    bytes: int
    accesses: int
    split: bool
    reason: str
    gain: str
    suggestion: str
    hot_bytes: int
    fields: tuple[FieldWeight, ...]


def has_classes(result: AnalysisResult) -> bool:
    """Whether it is of `halo split`; `halo analyse split` writes the counts alone."""
    return CLASSES in result.more


def split_classes_of(result: AnalysisResult) -> list[SplitClass]:
    """All classes, those with most accesses first; BadInput where the document is damaged."""
    try:
        if result.analysis != "split":
            raise Damaged(f"it is of the analysis '{result.analysis}', and split is asked for")
        if not has_classes(result):
            raise Damaged("it has no classes, as what halo split writes has")
        fields = _fields(result)
        return [_class(raw, fields) for raw in section_of(result, CLASSES)]
    except Damaged as error:
        raise result.damaged(error) from error


def _fields(result: AnalysisResult) -> dict[str, list[FieldWeight]]:
    names = ("class", "field", "type", "offset", "bytes", "accesses", "part")
    places = [result.column(name) for name in names]
    found: dict[str, list[FieldWeight]] = {}
    for row in result.rows:
        label, name, type_, offset, size, accesses, part = (row[place] for place in places)
        if part == PADDING:
            continue
        found.setdefault(text(label, "class"), []).append(
            FieldWeight(
                name=text(name, "field"),
                type=text(type_, "type"),
                offset=count(offset, "offset"),
                bytes=count(size, "bytes"),
                accesses=count(accesses, "accesses"),
                cold=part == "cold" if part else None,
            )
        )
    return found


def _class(raw: Mapping[str, Any], fields: Mapping[str, list[FieldWeight]]) -> SplitClass:
    label = text(raw.get("class"), "class")
    file = text(raw.get("file"), "file")
    return SplitClass(
        label=label,
        place=f"{file}:{count(raw.get('line'), 'line')}" if file else "",
        bytes=count(raw.get("bytes"), "bytes"),
        accesses=count(raw.get("accesses"), "accesses"),
        split=flag(raw.get("split"), "split"),
        reason=text(raw.get("reason"), "reason"),
        gain=optional(raw.get("gain"), "gain", text) or "",
        suggestion=optional(raw.get("suggestion"), "suggestion", text) or "",
        hot_bytes=optional(raw.get("hot_bytes"), "hot_bytes", count) or 0,
        fields=tuple(fields.get(label, ())),
    )
