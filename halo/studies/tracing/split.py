"""The classes of `halo study trace split`, and which of their fields are hot."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct, field

from halo.base.schema.document import Damaged, convert
from halo.base.schema.values import Count
from halo.studies.tracing.document import SplitClass
from halo.studies.tracing.results import ANALYSIS, AnalysisResult

PADDING = "padding"


class FieldWeight(Struct, frozen=True):
    """A row of the document: the accesses to a field are its weight; `part` may be empty."""

    label: str = field(name="class")
    name: str = field(name="field")
    type: str
    offset: Count
    bytes: Count
    accesses: Count
    part: str | None

    @property
    def cold(self) -> bool | None:
        """None if no field of the class was marked."""
        return self.part == "cold" if self.part else None


@dataclass(frozen=True)
class ClassWeights:
    """A class with the weights of its fields."""

    found: SplitClass
    fields: tuple[FieldWeight, ...]


def has_classes(result: AnalysisResult) -> bool:
    """Whether `halo study trace split` wrote it; the analysis alone has only counts."""
    return isinstance(result.document.classes, tuple)


def split_classes_of(result: AnalysisResult) -> list[ClassWeights]:
    """All classes, those with most accesses first; BadInput if the document is damaged."""
    try:
        return _classes(result)
    except Damaged as error:
        raise ANALYSIS.damaged(result.path, error) from error


def _classes(result: AnalysisResult) -> list[ClassWeights]:
    document = result.document
    if document.analysis != "split":
        raise Damaged(f"it is of the analysis '{document.analysis}', and split is asked for")
    if not isinstance(document.classes, tuple):
        raise Damaged("it has no classes, as what halo study trace split writes has")
    fields = convert(result.dicts(), list[FieldWeight], "rows")
    return [
        ClassWeights(
            found,
            tuple(it for it in fields if it.label == found.label and it.part != PADDING),
        )
        for found in document.classes
    ]
