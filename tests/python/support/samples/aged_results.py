"""Results on aged heaps for the tests: seven configurations, every number known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from support.samples.results import document

CLEAN: Mapping[str, float] = {
    "custom": 2.0,
    "glibc": 3.0,
    "jemalloc": 2.5,
    "mimalloc": 2.25,
    "tcmalloc": 4.0,
    "halo over mimalloc": 1.5,
}
"""Median seconds on the clean heap."""
GROUPS = "halo over mimalloc (groups aged)"
SLOWER: Mapping[str, float] = {
    "custom": 0.1,
    "glibc": 2.0,
    "jemalloc": 1.0,
    "mimalloc": 1.5,
    "tcmalloc": 0.5,
    "halo over mimalloc": 0.2,
    GROUPS: 0.6,
}
"""Seconds that are added per part of the litter that is freed."""
LEVELS: Sequence[float | None] = (0.5, None, 0.99, 0.1, 0.9, 0.01)
"""In no order, as a reader must not rely on one."""
INSIDE = 0.25


def aged(
    levels: Sequence[float | None] = LEVELS,
    clean: Mapping[str, float] = CLEAN,
    counters: Mapping[str, int] | None = None,
    split: bool = True,
) -> dict[str, Any]:
    """The key `aged`; three rounds each, the second slower by a tenth and the third faster.

    A quarter of the samples lies inside the allocator; `counters` are the same in every run.
    """
    labels = [*clean, GROUPS] if "halo over mimalloc" in clean else list(clean)
    return {
        "multiplier": 1.0,
        "shuffle": True,
        "seed": 1,
        "configurations": {label: _config(label) for label in labels},
        "levels": [
            {
                "occupancy": occupancy,
                "trials": {
                    label: _trials(median_seconds(label, occupancy, clean), counters or {})
                    for label in labels
                    if occupancy is not None or label != GROUPS
                },
                "split": {
                    label: {"inside": INSIDE, "outside": 1 - INSIDE, "samples": 1000}
                    for label in labels
                    if split and (occupancy is not None or label != GROUPS)
                },
            }
            for occupancy in levels
        ],
    }


def aged_document(program: str = "prog", **of_aged: Any) -> dict[str, Any]:
    """A results file of allocators alone that has the key `aged`, too."""
    found = aged(**of_aged)
    written = document(program)
    clean = next(level for level in found["levels"] if level["occupancy"] is None)
    written["trials"]["reference"] = clean["trials"]
    written["summary"].update(strategy=None, candidate=None, allocator=None, candidates=[])
    return {**written, "aged": found}


def median_seconds(
    label: str, occupancy: float | None, clean: Mapping[str, float] = CLEAN
) -> float:
    """Of the middle trial; nothing is added at occupancy 1."""
    base = clean["halo over mimalloc" if label == GROUPS else label]
    freed = 0.0 if occupancy is None else 1 - occupancy
    return base + SLOWER.get(label, 0.0) * freed


def _config(label: str) -> dict[str, Any]:
    kinds = {"custom": "custom", "halo over mimalloc": "plan", GROUPS: "plan"}
    kind = kinds.get(label, "allocator")
    return {
        "kind": kind,
        "allocator": {"custom": "glibc", "plan": "mimalloc"}.get(kind, label),
        "plan": "halo.plan" if kind == "plan" else None,
        "groups": label == GROUPS,
        "program": "prog-freelist" if kind == "custom" else None,
    }


def _trials(seconds: float, counters: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "wall": seconds * factor,
            "user": seconds,
            "system": 0.0,
            "peak_memory": 1000,
            "runtime": {},
            "counters": dict(counters),
        }
        for factor in (1.0, 1.1, 0.9)
    ]
