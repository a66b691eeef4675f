"""The results of a simulation as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from halo.base.console.terminal import TextColumn, TextGrid, TextRow, make_console, show_grid
from halo.base.schema.simulation import (
    ClassCounts,
    CodeMisses,
    ContextMisses,
    MissedObject,
    MissTally,
    SimulationDocument,
)
from halo.record.profile import CACHE_SWEEP, Profile, Simulation, Tally, name_frames
from halo.record.simulation.run import (
    Simulated,
    SimulatedLayout,
    code_places,
    cycles_of,
    heap_use,
    misses_by_level,
    run_misses,
    simulation_of,
)

MAX_CODE = 100
MAX_STACK = 6


def show_simulation(simulated: Simulated, rows: int) -> None:
    """Prints levels, contexts and code to stderr, as stdout belongs to the program."""
    console = make_console(stderr=True)
    show_grid(console, levels_table(simulated))
    found, profile = simulated.simulation, simulated.profile
    if found.classes:
        name = found.machine.caches[0].name
        show_grid(console, classes_table(name, found.classes.total, found.total.accesses))
    contexts = [
        (stack, tally)
        for context, tally in top_contexts(found, rows)
        if (stack := " < ".join(stack_names(profile, context)[:2]))
    ]
    if contexts:
        show_grid(console, tallies_table("objects allocated by", found, contexts))
    if rows:
        show_grid(console, tallies_table("code", found, code_places(profile, rows)))


def levels_table(simulated: Simulated) -> TextGrid:
    """One row for each level."""
    found = simulated.simulation
    instructions = max(simulated.profile.recorder.instructions, 1)
    total = found.total
    names = ("entries", "misses", "of accesses", "per 1000 instructions")
    levels = (*found.machine.caches, *found.machine.tlbs)
    return TextGrid(
        [TextColumn("level"), *(TextColumn(name, figures=True) for name in names)],
        [
            TextRow(
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


def classes_table(name: str, classes: ClassCounts, accesses: int) -> TextGrid:
    """One row for each class of misses of the first cache, which has that name."""
    labels = {
        "compulsory": "first use of a line",
        "capacity": "a fully associative cache misses as well",
        "conflict": "a fully associative cache hits",
    }
    counts = asdict(classes)
    return TextGrid(
        [
            TextColumn(f"misses of {name}"),
            TextColumn("", prose=True),
            TextColumn("misses", figures=True),
            TextColumn("of accesses", figures=True),
        ],
        [
            TextRow((key, label, f"{counts[key]:,}", f"{counts[key] / max(accesses, 1):.2%}"))
            for key, label in labels.items()
        ],
        f"{classes.anti:,} hits that a fully associative cache misses",
    )


def tallies_table(what: str, found: Simulation, items: Iterable[tuple[str, Tally]]) -> TextGrid:
    """One row for each item: its share of the misses' cost (0 to 100 %), and its misses."""
    figures = ("of miss cycles", *found.machine.levels)
    return TextGrid(
        [TextColumn(what, prose=True), *(TextColumn(name, figures=True) for name in figures)],
        [
            TextRow(
                (
                    name,
                    f"{tally.cycles / max(found.cycles, 1):.1%}",
                    *(f"{misses:,}" for misses in tally.misses),
                )
            )
            for name, tally in items
        ],
    )


def top_contexts(found: Simulation, maximum: int) -> list[tuple[int, Tally]]:
    """The contexts with the most expensive misses, as (context id, tally)."""
    ranked = sorted(enumerate(found.contexts), key=lambda item: (-item[1].cycles, item[0]))
    return [(context, tally) for context, tally in ranked[:maximum] if tally.cycles]


def stack_names(profile: Profile, context: int) -> list[str]:
    """The context's innermost call sites, the caller of malloc first."""
    chain = list(profile.stack(context))[:MAX_STACK]
    names = name_frames(profile, set(chain))
    return [names[frame] for frame in chain]


def context_misses(profile: Profile) -> tuple[ContextMisses, ...]:
    """Whose misses they were in a recorded run, the most expensive first."""
    found = simulation_of(profile)
    return tuple(
        ContextMisses(
            context=at,
            stack=tuple(stack_names(profile, at)),
            accesses=tally.accesses,
            cycles=tally.cycles,
            misses=misses_by_level(found, tally),
            classes=found.classes.contexts[at] if found.classes else None,
        )
        for at, tally in top_contexts(found, len(found.contexts))
    )


def code_misses(profile: Profile) -> tuple[CodeMisses, ...]:
    """Where they were in the code, the most expensive first."""
    found = simulation_of(profile)
    return tuple(
        CodeMisses(
            place=place,
            accesses=tally.accesses,
            cycles=tally.cycles,
            misses=misses_by_level(found, tally),
        )
        for place, tally in code_places(profile, MAX_CODE)
    )


def simulation_document(simulated: Simulated, setting: SimulatedLayout) -> SimulationDocument:
    """What `--json` writes."""
    found, profile = simulated.simulation, simulated.profile
    outside = found.outside
    return SimulationDocument(
        program=profile.program,
        arguments=tuple(profile.args),
        allocator=setting.allocator.name,
        plan=str(setting.plan) if setting.plan else None,
        machine=found.machine,
        contexts=context_misses(profile),
        code=code_misses(profile),
        **asdict(run_misses(profile)),
        hot_lines=found.hot_lines,
        sweep=CACHE_SWEEP.of(profile),
        heap=None if setting.plan else heap_use(profile),
        outside=MissTally(
            accesses=outside.accesses,
            cycles=outside.cycles,
            misses=misses_by_level(found, outside),
            classes=found.classes.outside if found.classes else None,
        ),
        objects=tuple(MissedObject(*item) for item in found.objects),
        objects_missed=found.objects_missed,
        objects_for_half=found.objects_for_half,
    )
