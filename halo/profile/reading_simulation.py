"""Turns the untrusted JSON of a simulation into a `Simulation`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from halo.profile.simulation import Level, Machine, ObjectMisses, Simulation, Tally


class SimulationReader:
    """Reads one simulation; `bad` raises, with what is wrong."""

    def __init__(
        self, raw: dict[str, Any], contexts: int, frames: int, bad: Callable[[str], NoReturn]
    ) -> None:
        self._raw = raw
        self._contexts = contexts
        self._frames = frames
        self._bad = bad

    def simulation(self) -> Simulation:
        machine = self._machine()
        width = len(machine.levels)
        contexts = tuple(self._tally(row, width) for row in self._list(self._raw, "contexts"))
        if len(contexts) != self._contexts:
            self._bad("the simulation's contexts are not those of the profile")
        return Simulation(
            machine=machine,
            outside=self._tally(self._raw.get("outside"), width),
            contexts=contexts,
            code=tuple(self._code(row, width) for row in self._list(self._raw, "code")),
            objects=tuple(self._object(row) for row in self._list(self._raw, "objects")),
            prefetched=self._counts(self._raw.get("prefetched"), len(machine.caches)),
            cycles=self._count(self._raw, "cycles"),
            objects_missed=self._count(self._raw, "objects_missed"),
            objects_for_half=self._count(self._raw, "objects_for_half"),
        )

    def _machine(self) -> Machine:
        raw = self._raw.get("machine")
        if not isinstance(raw, dict):
            self._bad("the simulation's machine is missing")
        sets, ways = self._counts(raw.get("huge_tlb"), 2)
        line, page, memory, walk = (
            self._count(raw, key) for key in ("line", "page", "memory_cycles", "walk_cycles")
        )
        return Machine(
            caches=tuple(self._level(item) for item in self._list(raw, "caches")),
            tlbs=tuple(self._level(item) for item in self._list(raw, "tlbs")),
            huge_tlb=(sets, ways),
            line=line,
            page=page,
            memory_cycles=memory,
            walk_cycles=walk,
            next_line=raw.get("next_line") is True,
            streams=raw.get("streams") is True,
        )

    def _level(self, raw: Any) -> Level:
        if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
            self._bad("a level of the simulation has no name")
        return Level(raw["name"], *(self._count(raw, key) for key in ("sets", "ways", "cycles")))

    def _tally(self, row: Any, width: int) -> Tally:
        accesses, cycles, *misses = self._counts(row, 2 + width)
        return Tally(accesses, cycles, tuple(misses))

    def _code(self, row: Any, width: int) -> tuple[int, Tally]:
        frame, *tally = self._counts(row, 3 + width)
        if frame >= self._frames:
            self._bad("a frame of the simulation is out of range")
        return frame, self._tally(tally, width)

    def _object(self, row: Any) -> ObjectMisses:
        found = ObjectMisses(*self._counts(row, 4))
        if found.context >= self._contexts:
            self._bad("a context of the simulation is out of range")
        return found

    def _counts(self, row: Any, length: int) -> tuple[int, ...]:
        if not isinstance(row, list) or len(row) != length:
            self._bad(f"a list of the simulation does not have {length} numbers")
        if not all(type(value) is int and 0 <= value < 2**63 for value in row):
            self._bad("a number of the simulation is not a count")
        return tuple(row)

    def _list(self, holder: dict[str, Any], key: str) -> list[Any]:
        value = holder.get(key)
        if not isinstance(value, list):
            self._bad(f"the simulation's {key} are not a list")
        return value

    def _count(self, holder: dict[str, Any], key: str) -> int:
        (value,) = self._counts([holder.get(key)], 1)
        return value
