"""A run with simulated caches and TLBs, and its misses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from halo.base.schema.simulation import HeapUse, SimulatedRun
from halo.binary.process.allocators import Allocator
from halo.binary.process.foreground import Ending
from halo.record.profile import SIMULATION, Profile, Simulation, Tally, name_frames
from halo.record.simulation.cost import INSTRUCTIONS_A_CYCLE


@dataclass(frozen=True)
class SimulatedLayout:
    """The conditions of a simulated run; without a plan, misses are counted by context.

    `max_object` is the size in bytes of the largest object to track; 0: the recorder's default.
    """

    allocator: Allocator
    plan: Path | None
    machine: str  # the recorder's description; empty: the machine this runs on
    classes: bool = False  # classify misses of the first cache, without prefetching
    sweep: bool = False  # also simulate caches of many sizes
    max_object: int = 0


@dataclass(frozen=True)
class Simulated:
    """A simulated run: its profile, and how the program ended."""

    ending: Ending
    profile: Profile

    @property
    def simulation(self) -> Simulation:
        return simulation_of(self.profile)


def heap_use(profile: Profile) -> HeapUse:
    """The memory of the tracked objects of a run without a plan."""
    totals = profile.totals
    return HeapUse(
        allocations=totals.allocations,
        larger=totals.untracked,
        bytes=sum(context.bytes for context in profile.contexts),
        peak_live_bytes=totals.peak_live_bytes,
        final_live_bytes=totals.final_live_bytes,
    )


def cycles_of(profile: Profile) -> int:
    """Modelled cycles, with the latencies of the simulated machine."""
    instructions = profile.recorder.instructions
    return round(instructions / INSTRUCTIONS_A_CYCLE) + simulation_of(profile).cycles


def simulation_of(profile: Profile) -> Simulation:
    """The simulation of a profile that was recorded with one."""
    found = SIMULATION.of(profile)
    assert found is not None
    return found


def run_misses(profile: Profile) -> SimulatedRun:
    """Instructions, accesses, modelled cycles, and misses by level."""
    found = simulation_of(profile)
    caches = (level.name for level in found.machine.caches)
    return SimulatedRun(
        instructions=profile.recorder.instructions,
        accesses=found.total.accesses,
        cycles=cycles_of(profile),
        miss_cycles=found.cycles,
        misses=misses_by_level(found, found.total),
        prefetched=dict(zip(caches, found.prefetched, strict=True)),
        classes=found.classes.total if found.classes else None,
    )


def misses_by_level(found: Simulation, tally: Tally) -> dict[str, int]:
    """A tally's misses by the levels' names."""
    return dict(zip(found.machine.levels, tally.misses, strict=True))


def code_places(profile: Profile, maximum: int) -> list[tuple[str, Tally]]:
    """The most expensive code first: by function and line, with its instructions added up."""
    code = simulation_of(profile).code
    names = name_frames(profile, {frame for frame, _ in code})
    places: dict[str, Tally] = {}
    for frame, tally in code:
        place = names[frame]
        places[place] = places[place].plus(tally) if place in places else tally
    return sorted(places.items(), key=lambda item: -item[1].cycles)[:maximum]
