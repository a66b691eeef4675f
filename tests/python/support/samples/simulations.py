"""Results of `halo study eval simulate` for the tests of what reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WAYS = (1, 2, 4, 8)
SIZES = tuple(8 << 10 << step for step in range(8))


def simulated(program: str = "prog", **changes: Any) -> dict[str, Any]:
    """A run with 1000 accesses, 200 of them to the heap, and 50 misses, 40 of them there."""
    level = {"name": "L1D", "sets": 512, "ways": 2, "cycles": 0}
    return {
        "format": "halo-simulation",
        "version": 2,
        "program": f"/nowhere/{program}",
        "arguments": ["1"],
        "allocator": "glibc",
        "plan": None,
        "machine": {
            "caches": [level],
            "tlbs": [{**level, "name": "DTLB"}],
            "huge_tlb": [0, 0],
            "line": 64,
            "page": 8192,
            "memory_cycles": 100,
            "walk_cycles": 20,
            "next_line": False,
            "streams": False,
        },
        "contexts": [],
        "code": [],
        "instructions": 4000,
        "accesses": 1000,
        "cycles": 6000,
        "miss_cycles": 5000,
        "misses": {"L1D": 50, "DTLB": 5},
        "prefetched": {"L1D": 0},
        "classes": None,
        "sweep": sweep(),
        "heap": heap(),
        "outside": {"accesses": 800, "misses": {"L1D": 10, "DTLB": 5}},
        "objects": [],
        "objects_missed": 0,
        "objects_for_half": 0,
        **changes,
    }


def heap(larger: int = 0) -> dict[str, int]:
    return {
        "allocations": 30,
        "larger": larger,
        "bytes": 3_000,
        "peak_live_bytes": 2_000,
        "final_live_bytes": 1_000,
    }


def sweep(outside: Mapping[int, int] | None = None) -> dict[str, Any]:
    """Caches whose heap misses are 10 times the ways; `outside` gives other misses by size."""
    caches = [
        {"bytes": size, "ways": ways, "heap": 10 * ways, "outside": (outside or {}).get(size, 10)}
        for size in SIZES
        for ways in WAYS
    ]
    return {"line": 64, "heap": 200, "outside": 800, "caches": caches}


def save(folder: Path, document: dict[str, Any]) -> Path:
    """A file named after the program."""
    path = folder / f"{Path(document['program']).name}.json"
    path.write_text(json.dumps(document))
    return path


def layouts(folder: Path, conflicts: Mapping[str, int], **changes: dict[str, Any]) -> Path:
    """A folder with a run for each layout with that many conflict misses; changes are by layout.

    Half as many hot lines are in slot 0 as there are conflict misses.
    """
    folder.mkdir(parents=True)
    for name, count in conflicts.items():
        classes = {"compulsory": 4, "capacity": 6, "conflict": count, "anti": 1}
        hot = {"lines": count // 2, "by_slot": [count // 2, *[0] * 63]}
        given = {"classes": classes, "hot_lines": hot, **changes.get(name, {})}
        document = simulated(**given)
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder
