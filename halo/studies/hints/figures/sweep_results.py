"""Results of `bench/studies/tidy_sweep.py`, one of each program."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import DocumentKind, load
from halo.studies.hints.sweep_document import FORMAT, VERSION, SweepDocument, SweptTraversal

KIND = DocumentKind(
    FORMAT,
    VERSION,
    SweepDocument,
    name="a result of bench/studies/tidy_sweep.py",
    give="give a file that python -m bench.studies.tidy_sweep simulate wrote",
    again="run python -m bench.studies.tidy_sweep simulate again",
)
CYCLES, TIME = "cycles", "time"
MIN_SHARE = 1000
"""A level matters if one of that many misses of the first level also misses it."""


@dataclass(frozen=True)
class Sweep:
    """The traversals of a program; values are relative to its objects from malloc."""

    document: SweepDocument

    @property
    def program(self) -> str:
        return self.document.program

    @property
    def levels(self) -> tuple[str, ...]:
        return tuple(self.document.plain.misses)

    def matters(self, event: str) -> bool:
        """Whether it is not a level with hardly any misses, whose ratios mean nothing."""
        misses = self.document.plain.misses
        return event not in misses or misses[event] * MIN_SHARE >= misses[self.levels[0]]

    @property
    def is_timed(self) -> bool:
        return bool(self.document.plain.seconds)

    def relative(self, one: SweptTraversal) -> Mapping[str, float]:
        """Modelled cycles, misses by level, and the median time if it is known."""
        plain = self.document.plain
        found = {CYCLES: one.cycles / max(1, plain.cycles)}
        found |= {at: count / max(1, plain.misses[at]) for at, count in one.misses.items()}
        if self.is_timed:
            found[TIME] = statistics.median(one.seconds) / statistics.median(plain.seconds)
        return found

    def over_best(self, swept: Sequence[SweptTraversal], what: str) -> float:
        """CYCLES or TIME of the default, divided by the least of those traversals."""
        return self.relative(self.document.default)[what] / min(
            self.relative(one)[what] for one in swept
        )


def traversals(document: SweepDocument) -> Iterator[SweptTraversal]:
    """All of them, the plain program's first."""
    yield from (document.plain, document.ignored, document.default)
    yield from (*document.buckets, *document.cells)


def read_sweep(path: Path) -> Sweep:
    """The result in a file; `BadInput` if it is damaged."""
    document = load(path, KIND)
    everything = list(traversals(document))
    if not document.buckets or not document.cells:
        raise KIND.damaged(path, "it has no buckets or no cells")
    if len({tuple(one.misses) for one in everything}) > 1:
        raise KIND.damaged(path, "its traversals have different levels")
    if len({len(one.seconds) for one in everything}) > 1 or 0 in document.plain.seconds:
        raise KIND.damaged(path, "its traversals are not all timed")
    return Sweep(document)


def read_sweeps(paths: Sequence[Path]) -> list[Sweep]:
    """Raises `BadInput` for damaged files, and if the simulated levels differ."""
    found = [read_sweep(path) for path in paths]
    for one, path in zip(found, paths, strict=True):
        if one.levels != found[0].levels or one.is_timed != found[0].is_timed:
            raise BadInput(
                f"{paths[0]} and {path} are of different machines, or only one is timed; give"
                " results of one machine."
            )
    return found
