"""Simulated caches and TLBs as a recording leaves them: misses by context, by code, by object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from halo.errors import BadProfile

_Site = TypeVar("_Site")
MOST_CODE = 1000
MOST_OBJECTS = 100


class Level(NamedTuple):
    """A cache or a TLB; `cycles` is what an access costs that it has, over one in the first."""

    name: str
    sets: int
    ways: int
    cycles: int


@dataclass(frozen=True)
class Machine:
    """What was simulated, first levels first; line and page in bytes, the rest in cycles.

    `huge_tlb` is (sets, ways) of the first TLB level for pages of 2 MiB.
    """

    caches: tuple[Level, ...]
    tlbs: tuple[Level, ...]
    huge_tlb: tuple[int, int]
    line: int
    page: int
    memory_cycles: int
    walk_cycles: int
    next_line: bool
    streams: bool

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels in the order of a tally's misses: caches, then TLBs."""
        return tuple(level.name for level in (*self.caches, *self.tlbs))


class Tally(NamedTuple):
    """Accesses, what their misses cost in cycles, and how many each level did not have."""

    accesses: int
    cycles: int
    misses: tuple[int, ...]

    def plus(self, other: Tally) -> Tally:
        misses = tuple(a + b for a, b in zip(self.misses, other.misses, strict=True))
        return Tally(self.accesses + other.accesses, self.cycles + other.cycles, misses)


class ObjectMisses(NamedTuple):
    """An object by the number of its allocation, with what it missed in the first level."""

    number: int
    context: int
    size: int
    misses: int


@dataclass(frozen=True)
class Simulation:
    """A simulated run. `outside` is what was accessed outside the tracked objects.

    `contexts` are by context id; `code` are (frame id, tally) pairs, dearest first, whose accesses
    were not counted; the frame's offset lies one byte behind the instruction. `prefetched` is by
    cache. `objects_for_half` of the `objects_missed` objects have half of all their misses.
    """

    machine: Machine
    outside: Tally
    contexts: tuple[Tally, ...]
    code: tuple[tuple[int, Tally], ...]
    objects: tuple[ObjectMisses, ...]
    prefetched: tuple[int, ...]
    cycles: int
    objects_missed: int
    objects_for_half: int

    @property
    def total(self) -> Tally:
        """All accesses of the program."""
        total = self.outside
        for tally in self.contexts:
            total = total.plus(tally)
        return total


def flat(tally: Tally) -> list[int]:
    """A tally as the profile's row."""
    return [tally.accesses, tally.cycles, *tally.misses]


def machine_json(machine: Machine) -> dict[str, Any]:
    """The JSON document of a machine."""
    document = asdict(machine)
    for key in ("caches", "tlbs"):
        document[key] = [level._asdict() for level in getattr(machine, key)]
    return document


def simulation_json(found: Simulation) -> dict[str, Any]:
    """The JSON document of a simulation, keys as in docs/profile-format.md."""
    return {
        "machine": machine_json(found.machine),
        "contexts": [flat(tally) for tally in found.contexts],
        "code": [[frame, *flat(tally)] for frame, tally in found.code],
        "objects": found.objects,
        "outside": flat(found.outside),
        "prefetched": found.prefetched,
        "cycles": found.cycles,
        "objects_missed": found.objects_missed,
        "objects_for_half": found.objects_for_half,
    }


class SimulationMerger(Generic[_Site]):
    """Adds up the simulations of several processes, each of which had the machine for itself."""

    def __init__(self) -> None:
        self._parts: list[Simulation] = []
        self._contexts: dict[int, Tally] = {}
        self._code: dict[_Site, Tally] = {}
        self._objects: list[ObjectMisses] = []

    def add(self, found: Simulation, context_of: Sequence[int], sites: Sequence[_Site]) -> None:
        """Takes in a part's; contexts by what they are called in all parts, sites by frame id."""
        if self._parts and self._parts[0].machine != found.machine:
            raise BadProfile("The parts were simulated on different machines; record them alike.")
        self._parts.append(found)
        for at, tally in enumerate(found.contexts):
            known = self._contexts.get(context_of[at])
            self._contexts[context_of[at]] = known.plus(tally) if known else tally
        for frame, tally in found.code:
            seen = self._code.get(sites[frame])
            self._code[sites[frame]] = seen.plus(tally) if seen else tally
        self._objects += [item._replace(context=context_of[item.context]) for item in found.objects]

    def numbered(
        self, context_ids: Sequence[int], frame_ids: Mapping[_Site, int]
    ) -> Simulation | None:
        """All parts as one; None where none was simulated."""
        if not self._parts:
            return None
        first = self._parts[0]
        nothing = Tally(0, 0, (0,) * len(first.machine.levels))
        contexts = [nothing] * len(context_ids)
        for context, tally in self._contexts.items():
            contexts[context_ids[context]] = tally
        outside = nothing
        for part in self._parts:
            outside = outside.plus(part.outside)
        code = [(frame_ids[site], tally) for site, tally in self._code.items()]
        objects = [item._replace(context=context_ids[item.context]) for item in self._objects]
        sums: Counter[str] = Counter()
        for part in self._parts:
            for key in ("cycles", "objects_missed", "objects_for_half"):
                sums[key] += getattr(part, key)
        return Simulation(
            machine=first.machine,
            outside=outside,
            contexts=tuple(contexts),
            code=tuple(sorted(code, key=lambda item: (-item[1].cycles, item[0]))[:MOST_CODE]),
            objects=tuple(sorted(objects, key=lambda o: (-o.misses, o))[:MOST_OBJECTS]),
            prefetched=tuple(map(sum, zip(*(p.prefetched for p in self._parts), strict=True))),
            cycles=sums["cycles"],
            objects_missed=sums["objects_missed"],
            objects_for_half=sums["objects_for_half"],
        )
