"""What was simulated, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from halo.profile import Profile, Simulation, Tally, name_frames
from halo.profile.simulation import machine_json
from halo.simulation.run import (
    FORMAT,
    VERSION,
    Setting,
    Simulated,
    code_places,
    cycles_of,
    misses_by_level,
    misses_json,
)
from halo.terminal import Field, Grid, Row, make_console, show_grid

MOST_CODE = 100
MOST_STACK = 6


def show_simulation(simulated: Simulated, rows: int) -> None:
    """Levels, contexts and code on stderr: stdout is the program's."""
    console = make_console(stderr=True)
    show_grid(console, levels_table(simulated))
    found, profile = simulated.simulation, simulated.profile
    contexts = [
        (stack, tally)
        for context, tally in dearest_contexts(found, rows)
        if (stack := " < ".join(stack_names(profile, context)[:2]))
    ]
    if contexts:
        show_grid(console, tallies_table("objects allocated by", found, contexts))
    if rows:
        show_grid(console, tallies_table("code", found, code_places(profile, rows)))


def levels_table(simulated: Simulated) -> Grid:
    """One row for each level."""
    found = simulated.simulation
    instructions = max(simulated.profile.recorder.instructions, 1)
    total = found.total
    names = ("entries", "misses", "of accesses", "per 1000 instructions")
    levels = (*found.machine.caches, *found.machine.tlbs)
    return Grid(
        [Field("level"), *(Field(name, figures=True) for name in names)],
        [
            Row(
                (
                    level.name,
                    f"{level.sets} x {level.ways}",
                    f"{misses:,}",
                    f"{misses / max(total.accesses, 1):.2%}",
                    f"{1000 * misses / instructions:.2f}",
                )
            )
            for level, misses in zip(levels, total.misses, strict=True)
        ],
        f"{total.accesses:,} accesses, {instructions:,} instructions,"
        f" {cycles_of(simulated.profile):,} modelled cycles",
    )


def tallies_table(what: str, found: Simulation, items: Iterable[tuple[str, Tally]]) -> Grid:
    """One row for each of them: its share of the misses' cost, and its misses."""
    figures = ("of miss cycles", *found.machine.levels)
    return Grid(
        [Field(what, prose=True), *(Field(name, figures=True) for name in figures)],
        [
            Row(
                (
                    name,
                    f"{tally.cycles / max(found.cycles, 1):.1%}",
                    *(f"{misses:,}" for misses in tally.misses),
                )
            )
            for name, tally in items
        ],
    )


def dearest_contexts(found: Simulation, most: int) -> list[tuple[int, Tally]]:
    """The contexts whose objects' misses cost most."""
    ranked = sorted(enumerate(found.contexts), key=lambda item: (-item[1].cycles, item[0]))
    return [(context, tally) for context, tally in ranked[:most] if tally.cycles]


def stack_names(profile: Profile, context: int) -> list[str]:
    """The context's innermost call sites, the caller of malloc first."""
    chain = list(profile.stack(context))[:MOST_STACK]
    names = name_frames(profile, set(chain))
    return [names[frame] for frame in chain]


def plain_run_json(profile: Profile) -> dict[str, Any]:
    """The machine, and whose misses they were in a recorded run: `contexts` and `code`."""
    found = profile.simulation
    assert found is not None
    return {
        "machine": machine_json(found.machine),
        "contexts": [
            {"context": at, "stack": stack_names(profile, at), **tally_json(found, tally)}
            for at, tally in dearest_contexts(found, len(found.contexts))
        ],
        "code": [
            {"place": place, **tally_json(found, tally)}
            for place, tally in code_places(profile, MOST_CODE)
        ],
    }


def simulation_document(simulated: Simulated, setting: Setting) -> dict[str, Any]:
    """The JSON of docs/simulator.md."""
    found, profile = simulated.simulation, simulated.profile
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": profile.program,
        "arguments": list(profile.args),
        "allocator": setting.allocator.name,
        "plan": str(setting.plan) if setting.plan else None,
        **plain_run_json(profile),
        **misses_json(profile),
        "outside": tally_json(found, found.outside),
        "objects": [item._asdict() for item in found.objects],
        "objects_missed": found.objects_missed,
        "objects_for_half": found.objects_for_half,
    }


def tally_json(found: Simulation, tally: Tally) -> dict[str, Any]:
    """Accesses, cycles, and misses by the levels' names."""
    return {
        "accesses": tally.accesses,
        "cycles": tally.cycles,
        "misses": misses_by_level(found, tally),
    }
