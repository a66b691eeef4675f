"""Hand-made and random profiles for the tests of profiles, strategies and plans."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from halo.binary.alignment import CheckedModule, Proof, Relaxation
from halo.binary.elf import FrameRule, RuleKind
from halo.record.profile import Module, Profile
from halo.record.profile.reader import parse_profile

Site = tuple[int, int]
"""(module id, offset)."""
MODULES = (Module("/nowhere/program", "aa" * 20), Module("/nowhere/library", "bb" * 20))


class Sample:
    """Builds a profile from stacks given innermost first."""

    def __init__(self, modules: Sequence[Module] = MODULES, max_object: int = 4096) -> None:
        self.modules = modules
        self.max_object = max_object
        self.frames: dict[Site, int] = {}
        self.distances: dict[Site, int] = {}
        self.nodes: dict[tuple[int, int], int] = {(0, -1): 0}
        self.contexts: list[dict[str, Any]] = []
        self.edges: list[tuple[int, int, int]] = []

    def add(
        self,
        stack: Iterable[int | Site],
        accesses: int = 1,
        allocations: int = 1,
        sizes: Sequence[tuple[int, int]] | None = None,
        alignment: int = 0,
    ) -> int:
        """Adds a context; a plain number in the stack is an offset in module 0."""
        node = 0
        for site in reversed([(0, it) if isinstance(it, int) else it for it in stack]):
            frame = self.frames.setdefault(site, len(self.frames))
            node = self.nodes.setdefault((node, frame), len(self.nodes))
        sizes = [(24, allocations)] if sizes is None else sizes
        self.contexts.append(
            {
                "node": node,
                "allocations": allocations,
                "frees": 0,
                "bytes": sum(size * count for size, count in sizes),
                "min_size": min(size for size, _ in sizes),
                "max_size": max(size for size, _ in sizes),
                "sizes": [list(pair) for pair in sizes],
                "peak_live_bytes": 64,
                "accesses": accesses,
                "alignment": alignment,
            }
        )
        return len(self.contexts) - 1

    def edge(self, a: int, b: int, weight: int) -> None:
        self.edges.append((min(a, b), max(a, b), weight))

    def document(self) -> dict[str, Any]:
        return {
            "format": "halo-profile",
            "version": 1,
            "producer": "test",
            "program": {"path": MODULES[0].path, "args": []},
            "parameters": {"affinity_distance": 128, "max_object_size": self.max_object},
            "modules": [module._asdict() for module in self.modules],
            "frames": [[*site, self.distances.get(site, 0)] for site in self.frames],
            "nodes": [list(link) for link in self.nodes],
            "contexts": self.contexts,
            "edges": [list(edge) for edge in self.edges],
            "totals": {"allocations": sum(c["allocations"] for c in self.contexts)},
            "recorder": {"seconds": 1.5, "peak_memory_bytes": 10, "instructions": 7},
        }

    def profile(self) -> Profile:
        return parse_profile(self.document(), "the sample")


def any_distance(module: Module, offset: int) -> FrameRule:
    """A rule source for programs in which every call site can be stepped over."""
    return FrameRule(RuleKind.CONSTANT, 16)


CHECKED = (
    CheckedModule(MODULES[0].build_id, (Relaxation(0x1234, 0x28, 0x10),), MODULES[0].path),
    CheckedModule("cc" * 16, ()),
)


def any_alignment(profile: Profile, trust_loaded: bool) -> Proof:
    """A proof for programs whose code serves blocks at any multiple of eight."""
    return Proof(CHECKED)


def reduce_stack(raw: Sequence[Site]) -> tuple[Site, ...]:
    """The reduced form: of a repeated call site only the innermost occurrence."""
    return tuple(dict.fromkeys(raw))


def random_raw_stacks(rng: random.Random, count: int, sites: int = 12) -> list[tuple[Site, ...]]:
    """Stacks with recursion, many sharing their innermost call sites; one per reduced form."""
    found: dict[tuple[Site, ...], tuple[Site, ...]] = {}
    prefixes: list[list[Site]] = [[]]
    for _ in range(count):
        raw = list(rng.choice(prefixes))
        raw += [(rng.randrange(2), 16 + rng.randrange(sites)) for _ in range(rng.randint(1, 8))]
        prefixes.append(raw[: rng.randint(1, len(raw))])
        # All stacks end in the same two outermost sites, as those of a program do.
        raw += [(0, 5), (1, 6)]
        found.setdefault(reduce_stack(raw), tuple(raw))
    return list(found.values())
