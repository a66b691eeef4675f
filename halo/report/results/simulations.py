"""Results of `halo study eval simulate`, one of each program, as figures of the heap need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.schema.document import DocumentKind, load
from halo.base.schema.simulation import FORMAT, VERSION, HeapUse, SimulationDocument

KIND = DocumentKind(
    FORMAT,
    VERSION,
    SimulationDocument,
    name="a result of halo study eval simulate",
    give="give a file that halo study eval simulate --json wrote",
    again="simulate the program again",
)
LARGEST = (1 << 28) - 1
"""Bytes of the largest object that the recorder tracks."""


@dataclass(frozen=True)
class HeapSimulation:
    """A simulated run of a program without a plan, with all heap objects tracked."""

    path: Path
    document: SimulationDocument
    heap: HeapUse

    @property
    def program(self) -> str:
        return Path(self.document.program).name


def read_heap_simulations(paths: Sequence[Path]) -> list[HeapSimulation]:
    """One of each program, in that order.

    Raises `BadInput` for damaged files, runs under a plan, runs that left out objects, different
    machines, and for two files of one program.
    """
    found = [_read(path) for path in paths]
    seen: dict[str, Path] = {}
    for one in found:
        if one.document.machine != found[0].document.machine:
            raise BadInput(
                f"{found[0].path} and {one.path} are of different simulated machines; give results"
                " of one machine."
            )
        if one.program in seen:
            raise BadInput(
                f"{seen[one.program]} and {one.path} are both of the program {one.program}; give"
                " one of them."
            )
        seen[one.program] = one.path
    return found


def _read(path: Path) -> HeapSimulation:
    document = load(path, KIND)
    first = document.machine.caches[0].name
    if first not in document.misses or first not in document.outside.misses:
        raise KIND.damaged(path, f"it has no misses of {first}")
    if document.heap is None:
        raise BadInput(
            f"{path} does not say how the heap was used; simulate the program without a plan, by"
            " this version of halo."
        )
    if document.heap.larger:
        raise BadInput(
            f"{path} counts {document.heap.larger:,} large objects as outside the heap; simulate"
            f" the program with --max-object {LARGEST}."
        )
    return HeapSimulation(path, document, document.heap)
