"""The section of simulated caches and TLBs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from msgspec import Struct, to_builtins
from msgspec.structs import astuple

from halo.base.errors import BadProfile
from halo.base.schema.document import Damaged, convert
from halo.base.schema.simulation import ClassCounts, HotLines, SimulatedMachine
from halo.base.schema.values import Count
from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section
from halo.record.profile.simulation import Classes, ObjectMisses, Simulation, Tally, add_classes

_Key = TypeVar("_Key")
MAX_CODE = 1000
MAX_OBJECTS = 100
Row = tuple[Count, ...]


ClassRow = tuple[Count, Count, Count, Count]


class RawClasses(Struct, frozen=True):
    """Misses of the first cache: compulsory, capacity, conflict, anti."""

    contexts: tuple[ClassRow, ...]
    outside: ClassRow


class RawSimulation(Struct, frozen=True):
    """The simulation as a profile has it: docs/profile-format.md."""

    machine: SimulatedMachine
    contexts: tuple[Row, ...]
    code: tuple[Row, ...]
    objects: tuple[ObjectMisses, ...]
    outside: Row
    prefetched: Row
    cycles: Count
    objects_missed: Count
    objects_for_half: Count
    classes: RawClasses | None = None
    hot_lines: HotLines | None = None


class SimulationSection(Section[Simulation]):
    """Absent if nothing was simulated."""

    key = "simulation"

    def read(self, checks: Checks, contexts: int, frames: int) -> Simulation:
        try:
            return _parsed(checks.document[self.key], contexts, frames)
        except Damaged as error:
            checks.bad(str(error))

    def write(self, value: Simulation) -> dict[str, Any]:
        classes = {} if value.classes is None else {"classes": _flat_classes(value.classes)}
        return {
            "machine": to_builtins(value.machine),
            "contexts": [_flat(tally) for tally in value.contexts],
            "code": [[frame, *_flat(tally)] for frame, tally in value.code],
            "objects": value.objects,
            "outside": _flat(value.outside),
            "prefetched": value.prefetched,
            "cycles": value.cycles,
            "objects_missed": value.objects_missed,
            "objects_for_half": value.objects_for_half,
            **classes,
            **({} if value.hot_lines is None else {"hot_lines": to_builtins(value.hot_lines)}),
        }

    def combine(self, found: Sequence[tuple[Part, Simulation]]) -> Simulation:
        """Adds up the simulations of several processes, each on a machine of its own."""
        parts = [value for _, value in found]
        machine = parts[0].machine
        if any(value.machine != machine for value in parts):
            raise BadProfile(
                "The recordings were simulated on different machines; record them alike."
            )
        contexts = _sums(
            (part.contexts[at], tally)
            for part, value in found
            for at, tally in enumerate(value.contexts)
        )
        code = _sums(
            (part.frames[frame], tally) for part, value in found for frame, tally in value.code
        )
        outside = _sums(("", value.outside) for value in parts)[""]
        objects = [
            item._replace(context=part.contexts[item.context])
            for part, value in found
            for item in value.objects
        ]
        nothing = Tally(0, 0, (0,) * len(machine.levels))
        return Simulation(
            machine=machine,
            outside=outside,
            contexts=tuple(contexts.get(at, nothing) for at in range(found[0][0].merged_contexts)),
            code=tuple(sorted(code.items(), key=lambda it: (-it[1].cycles, it[0]))[:MAX_CODE]),
            objects=tuple(sorted(objects, key=lambda o: (-o.misses, o))[:MAX_OBJECTS]),
            prefetched=tuple(map(sum, zip(*(it.prefetched for it in parts), strict=True))),
            cycles=sum(it.cycles for it in parts),
            objects_missed=sum(it.objects_missed for it in parts),
            objects_for_half=sum(it.objects_for_half for it in parts),
            classes=_merged_classes(found),
            hot_lines=_merged_hot_lines(parts),
        )

    def repeated(self, value: Simulation, times: int) -> Simulation:
        classes = value.classes
        return replace(
            value,
            outside=value.outside.times(times),
            contexts=tuple(tally.times(times) for tally in value.contexts),
            code=tuple((frame, tally.times(times)) for frame, tally in value.code),
            prefetched=tuple(times * count for count in value.prefetched),
            cycles=times * value.cycles,
            objects_missed=times * value.objects_missed,
            objects_for_half=times * value.objects_for_half,
            classes=None if classes is None else classes.times(times),
        )


SIMULATION = SimulationSection()


def _sums(tallies: Iterable[tuple[_Key, Tally]]) -> dict[_Key, Tally]:
    sums: dict[_Key, Tally] = {}
    for key, tally in tallies:
        sums[key] = sums[key].plus(tally) if key in sums else tally
    return sums


def _merged_classes(found: Sequence[tuple[Part, Simulation]]) -> Classes | None:
    """None unless all parts have classes."""
    counts = [[ClassCounts(0, 0, 0, 0)] for _ in range(found[0][0].merged_contexts)]
    outside = []
    for part, value in found:
        if value.classes is None:
            return None
        outside.append(value.classes.outside)
        for at, one in enumerate(value.classes.contexts):
            counts[part.contexts[at]].append(one)
    return Classes(add_classes(outside), tuple(map(add_classes, counts)))


def _merged_hot_lines(parts: Sequence[Simulation]) -> HotLines | None:
    """Those of the process that has most, as each has a cache of its own.

    None if the simulation of one process has no hot lines.
    """
    found = [part.hot_lines for part in parts if part.hot_lines is not None]
    if len(found) < len(parts):
        return None
    return max(found, key=lambda it: (it.lines, it.by_slot))


def _parsed(document: Any, contexts: int, frames: int) -> Simulation:
    """The simulation in a profile with these numbers of contexts and frames; raises `Damaged`."""
    raw = convert(document, RawSimulation, "simulation")
    levels = len(raw.machine.levels)
    if len(raw.contexts) != contexts:
        raise Damaged("the simulation's contexts are not those of the profile")
    _check_lengths((*raw.contexts, raw.outside), 2 + levels)
    _check_lengths(raw.code, 3 + levels)
    _check_lengths((raw.prefetched,), len(raw.machine.caches))
    if raw.hot_lines and sum(raw.hot_lines.by_slot) != raw.hot_lines.lines:
        raise Damaged("the simulation's hot lines by slot do not add up")
    if any(frame >= frames for frame, *_ in raw.code):
        raise Damaged("a frame of the simulation is out of range")
    if any(it.context >= contexts for it in raw.objects):
        raise Damaged("a context of the simulation is out of range")
    classes = None if raw.classes is None else _parsed_classes(raw, raw.classes)
    return Simulation(
        machine=raw.machine,
        outside=_tally(raw.outside),
        contexts=tuple(_tally(row) for row in raw.contexts),
        code=tuple((frame, _tally(tally)) for frame, *tally in raw.code),
        objects=raw.objects,
        prefetched=raw.prefetched,
        cycles=raw.cycles,
        objects_missed=raw.objects_missed,
        objects_for_half=raw.objects_for_half,
        classes=classes,
        hot_lines=raw.hot_lines,
    )


def _parsed_classes(raw: RawSimulation, classes: RawClasses) -> Classes:
    """Checks that each list of classes adds up to the misses of the first cache."""
    if len(classes.contexts) != len(raw.contexts):
        raise Damaged("the simulation's classes are not those of its contexts")
    rows = (*classes.contexts, classes.outside)
    first_misses = (_tally(row).misses[0] for row in (*raw.contexts, raw.outside))
    counts = [ClassCounts(*row) for row in rows]
    if any(one.misses != misses for one, misses in zip(counts, first_misses, strict=True)):
        raise Damaged("classes of misses do not add up to the misses of the first cache")
    return Classes(counts[-1], tuple(counts[:-1]))


def _flat_classes(classes: Classes) -> dict[str, Any]:
    """The profile's object."""
    return {
        "contexts": [astuple(one) for one in classes.contexts],
        "outside": astuple(classes.outside),
    }


def _check_lengths(rows: Sequence[Row], length: int) -> None:
    if any(len(row) != length for row in rows):
        raise Damaged(f"a list of the simulation does not have {length} numbers")


def _tally(row: Sequence[int]) -> Tally:
    accesses, cycles, *misses = row
    return Tally(accesses, cycles, tuple(misses))


def _flat(tally: Tally) -> list[int]:
    """A tally as the profile's row."""
    return [tally.accesses, tally.cycles, *tally.misses]
