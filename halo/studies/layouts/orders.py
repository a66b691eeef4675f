"""Results of `halo study layout`, one of each program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import DocumentKind, load
from halo.studies.layouts.document import FORMAT, VERSION, LayoutDocument

KIND = DocumentKind(
    FORMAT,
    VERSION,
    LayoutDocument,
    name="a result of halo study layout",
    give="give a file that halo study layout --json wrote",
    again="run halo study layout again",
)
PACKING = "reuse"
"""The packing that is nearest to a heap."""


@dataclass(frozen=True)
class ReplayedProgram:
    """The replays of a program, called as its file, or of a phase of it."""

    path: Path
    document: LayoutDocument

    @property
    def program(self) -> str:
        return self.path.name.removesuffix(".json")

    @property
    def levels(self) -> tuple[str, ...]:
        return tuple(self.document.replayed.replays[0].misses)

    def relative(self, order: str) -> Mapping[str, float]:
        """The misses of an order by level, divided by those of the recorded layout."""
        recorded = self.document.replayed.replays[0].misses
        packed = {
            one.order: one.misses
            for one in self.document.replayed.replays
            if one.packing == PACKING
        }
        if order not in packed:
            raise BadInput(f"{self.path} has no order {order}; it has {', '.join(packed)}.")
        return {level: count / max(1, recorded[level]) for level, count in packed[order].items()}


def read_layouts(path: Path) -> LayoutDocument:
    """The result in a file; `BadInput` if it is damaged."""
    document = load(path, KIND)
    replays = document.replayed.replays
    if not replays:
        raise KIND.damaged(path, "it has no replays")
    if len({tuple(one.misses) for one in replays}) > 1:
        raise KIND.damaged(path, "its replays have different levels")
    return document


def read_replayed(paths: Sequence[Path]) -> list[ReplayedProgram]:
    """Raises `BadInput` for damaged files, and for machines with different levels."""
    found = [ReplayedProgram(path, read_layouts(path)) for path in paths]
    for one in found:
        if one.levels != found[0].levels:
            raise BadInput(
                f"{found[0].path} and {one.path} are of different simulated machines; give results"
                " of one machine."
            )
    return found
