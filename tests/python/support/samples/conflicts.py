"""A small section of conflicts: two states that compete on a machine with 64 sets of two ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def state(
    context: int | None, size: int, by_line: Sequence[int] = (30, 10), **counts: int
) -> dict[str, Any]:
    """A state as a profile has it; counts that are not given are 0."""
    names = ("compulsory", "capacity", "conflict", "objects", "peak", "reuses", "far")
    found: dict[str, Any] = {
        "accesses": sum(by_line),
        "by_line": list(by_line),
        "by_slot": [sum(by_line)],
    }
    found |= {name: counts.get(name, 0) for name in names}
    return found if context is None else {"context": context, "size": size, **found}


def machine(sets: int = 64, ways: int = 2, line: int = 64) -> dict[str, Any]:
    return {
        "caches": [{"name": "L1D", "sets": sets, "ways": ways, "cycles": 0}],
        "tlbs": [{"name": "DTLB", "sets": 16, "ways": 4, "cycles": 0}],
        "huge_tlb": [0, 0],
        "line": line,
        "page": 4096,
        "memory_cycles": 200,
        "walk_cycles": 8,
        "next_line": False,
        "streams": False,
    }


def conflicts_document() -> dict[str, Any]:
    """Of contexts 0 and 1, with 9 conflict misses."""
    return {
        "machine": machine(),
        "sampling": 64,
        "states": [
            state(None, 0, conflict=1),
            state(0, 64, objects=4, peak=3, conflict=3, capacity=1, reuses=10),
            state(1, 128, objects=5, peak=5, conflict=5, reuses=10, far=30),
        ],
        "pairs": [[0, 0, 2, 2, 0], [1, 2, 6, 8, 20], [2, 1, 10, 10, 5]],
        "outside_slots": [1],
        "states_left_out": 0,
        "pairs_left_out": 0,
    }
