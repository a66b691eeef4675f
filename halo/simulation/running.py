"""Runs a program with its caches and TLBs simulated, with or without a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halo.allocators import Allocator, preload, under_plan
from halo.errors import RecordingFailed
from halo.foreground import Ending
from halo.profile import Profile, Simulation, Tally, merge_parts, name_frames
from halo.recording import Limits, record, workspace
from halo.settings import Settings
from halo.simulation.cost import INSTRUCTIONS_A_CYCLE
from halo.target import Target

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


def simulate(
    settings: Settings,
    target: Target,
    arguments: list[str],
    setting: Setting,
    follow: Callable[[Path], Callable[[], None]],
) -> Simulated:
    """Runs the program under the recorder, on our own streams.

    `follow` gets the progress file and returns what is to be called now and then.
    """
    environment = preload(settings.environment, [setting.allocator.library])
    if setting.plan is not None:
        environment = under_plan(
            settings.environment, settings.runtime, setting.plan, setting.allocator
        )
    with workspace() as folder:
        limits = Limits(machine=machine_argument(setting.machine, folder))
        recording = record(
            replace(settings, environment=environment),
            target,
            arguments,
            limits,
            folder,
            follow(folder / "progress"),
            guest=setting.plan is None,
        )
        if not recording.parts:
            raise RecordingFailed(
                f"{target.name} ended without leaving what was simulated; check that it runs to its"
                " end, and the recorder with: halo doctor"
            )
        return Simulated(recording.ending, merge_parts(recording.parts, target.path, arguments))


def machine_argument(text: str, folder: Path) -> str:
    """What names the machine to the recorder; a description is put into the folder."""
    if not text:
        return "this"
    (folder / "machine").write_text(text)
    return str(folder / "machine")


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
