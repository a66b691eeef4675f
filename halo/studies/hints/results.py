"""Results of `halo study hints`, one of each program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import DocumentKind, load
from halo.studies.hints.document import FORMAT, VERSION, HintsDocument, TypeHint

KIND = DocumentKind(
    FORMAT,
    VERSION,
    HintsDocument,
    name="a result of halo study hints",
    give="give a file that halo study hints --json wrote",
    again="run halo study hints again",
)


@dataclass(frozen=True)
class LearntType:
    """A type from which something was learnt; `program` is the name of its file."""

    program: str
    hint: TypeHint

    @property
    def label(self) -> str:
        return f"{self.program}: {self.hint.type}"


def read_hints(path: Path) -> HintsDocument:
    """The result in a file; `BadInput` if it is damaged."""
    document = load(path, KIND)
    for one in document.types:
        if one.features and None in (one.accuracy, one.permuted, one.known):
            raise KIND.damaged(path, f"{one.type} has features without accuracies")
    return document


def read_learnt(paths: Sequence[Path]) -> list[LearntType]:
    """The types from which forests learnt, the most accessed of each file first.

    `BadInput` for a damaged file, and for one without such a type.
    """
    found: list[LearntType] = []
    for path in paths:
        document = read_hints(path)
        name = path.name.removesuffix(".json")
        learnt = [LearntType(name, one) for one in document.types if one.features]
        if not learnt:
            raise BadInput(f"{path} has no type from which anything was learnt.")
        found += learnt
    return found
