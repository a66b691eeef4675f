"""A run with simulated caches and TLBs, and what it missed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.allocators import Allocator
from halo.foreground import Ending
from halo.profile import Profile, Simulation, Tally, name_frames
from halo.simulation.cost import INSTRUCTIONS_A_CYCLE

FORMAT, VERSION = "halo-simulation", 1


@dataclass(frozen=True)
class Setting:
    """Under what a program is simulated; without a plan its allocation contexts are followed."""

    allocator: Allocator
    plan: Path | None
    machine: str  # the recorder's description; empty: the machine this runs on


@dataclass(frozen=True)
class Simulated:
    """A simulated run: what it left, and how the program ended."""

    ending: Ending
    profile: Profile

    @property
    def simulation(self) -> Simulation:
        assert self.profile.simulation is not None
        return self.profile.simulation


def cycles_of(profile: Profile) -> int:
    """Modelled cycles, with what misses cost on the machine that was simulated."""
    assert profile.simulation is not None
    instructions = profile.recorder.instructions
    return round(instructions / INSTRUCTIONS_A_CYCLE) + profile.simulation.cycles


def misses_json(profile: Profile) -> dict[str, Any]:
    """Instructions, accesses, modelled cycles, and misses by level."""
    found = profile.simulation
    assert found is not None
    return {
        "instructions": profile.recorder.instructions,
        "accesses": found.total.accesses,
        "cycles": cycles_of(profile),
        "miss_cycles": found.cycles,
        "misses": misses_by_level(found, found.total),
        "prefetched": dict(
            zip((level.name for level in found.machine.caches), found.prefetched, strict=True)
        ),
    }


def misses_by_level(found: Simulation, tally: Tally) -> dict[str, int]:
    """A tally's misses by the levels' names."""
    return dict(zip(found.machine.levels, tally.misses, strict=True))


def code_places(profile: Profile, most: int) -> list[tuple[str, Tally]]:
    """The dearest code, dearest first: a function and line each, its instructions as one."""
    assert profile.simulation is not None
    code = profile.simulation.code
    names = name_frames(profile, {frame for frame, _ in code})
    places: dict[str, Tally] = {}
    for frame, tally in code:
        place = names[frame]
        places[place] = places[place].plus(tally) if place in places else tally
    return sorted(places.items(), key=lambda item: -item[1].cycles)[:most]
