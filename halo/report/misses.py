"""Misses and page faults before and after, as simulated or counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from halo.base.schema.simulation import Level, Misses, SimulatedMachine
from halo.measure.racing.gains import HALO
from halo.report.bars import BarRow, Bars, chart
from halo.report.numbers import change, number
from halo.report.results import Measurement
from halo.report.results.graph import Graph
from halo.report.results.metrics import fastest_allocator

WORST = 8
KERNEL_EVENTS = frozenset({"page-faults"})


@dataclass(frozen=True)
class MissChange:
    """One event before and after."""

    event: str
    before: str
    after: str
    change: str


@dataclass(frozen=True)
class MissComparison:
    """Events of two configurations, as a table and a chart; `what` describes their source."""

    what: str
    before: str
    after: str
    rows: Sequence[MissChange]
    chart: Bars


@dataclass(frozen=True)
class MissPlace:
    """A context or a place in the code with its misses, level by level."""

    name: str
    accesses: str
    misses: Sequence[str]


def simulated(measurement: Measurement) -> MissComparison | None:
    """The allocator and halo in the simulator; None without simulation or without a plan."""
    found = measurement.results.simulation
    if found is None or measurement.keeps_none:
        return None
    before, kept = fastest_allocator(measurement), measurement.summary.candidate
    one = found.configurations.get(before)
    # `halo study eval compare` simulates the compared plans by their own labels.
    other = found.configurations.get(HALO) or found.configurations.get(kept or "")
    if one is None or other is None:
        return None
    pairs = {
        **{level: (one.misses[level], other.misses.get(level, 0)) for level in one.misses},
        "modelled cycles": (one.cycles, other.cycles),
        "instructions": (one.instructions, other.instructions),
    }
    what = f"Simulated on the {found.input} input: {describe(found.machine)}."
    return _comparison(what, before, {name: (float(a), float(b)) for name, (a, b) in pairs.items()})


def counted(measurement: Measurement) -> MissComparison | None:
    """Medians of the processor's own counters; None if none was read."""
    return _counted(measurement, "Counted by the processor on the reference input.", False)


def page_faults(measurement: Measurement) -> MissComparison | None:
    """Medians of the kernel's counts of page faults, which are not cache misses."""
    return _counted(measurement, "Counted by the kernel on the reference input.", True)


def _counted(measurement: Measurement, what: str, by_kernel: bool) -> MissComparison | None:
    """The comparison; None if no plan was kept, or nothing was counted."""
    if measurement.keeps_none:
        return None
    before = fastest_allocator(measurement)
    trials = {label: measurement.reference.get(label, ()) for label in (before, HALO)}
    everywhere = [set(trial.counters) for found in trials.values() for trial in found]
    events = sorted(set.intersection(*everywhere)) if everywhere and trials[HALO] else []
    pairs = {
        event: (
            median(trial.counters[event] for trial in trials[before]),
            median(trial.counters[event] for trial in trials[HALO]),
        )
        for event in events
        if (event in KERNEL_EVENTS) == by_kernel
    }
    return _comparison(what, before, pairs) if pairs else None


def worst_contexts(measurement: Measurement, graph: Graph | None) -> list[MissPlace]:
    """The contexts with most misses of the first level, with names from the graph if possible."""
    if measurement.results.simulation is None:
        return []
    names = {node.context: node.label for node in graph.nodes} if graph else {}
    return _places(
        [
            (names.get(it.context, f"context {it.context}"), it.accesses, it.misses)
            for it in measurement.results.simulation.contexts
        ]
    )


def worst_code(measurement: Measurement) -> list[MissPlace]:
    """The code places with most misses of the first level."""
    found = measurement.results.simulation
    return _places([(it.place, it.accesses, it.misses) for it in found.code]) if found else []


def levels(measurement: Measurement) -> list[str]:
    """The names of what was simulated, nearest to the processor first."""
    found = measurement.results.simulation
    return list(next(iter(found.configurations.values())).misses) if found else []


def describe(machine: SimulatedMachine) -> str:
    """The simulated hierarchy in one line."""
    caches = ", ".join(f"{c.name} {_size(c, machine.line)}" for c in machine.caches)
    tlbs = ", ".join(f"{t.name} {_entries(t)}" for t in machine.tlbs)
    return f"{caches}; {tlbs}; lines of {machine.line} and pages of {machine.page} bytes"


def _size(cache: Level, line: int) -> str:
    size = cache.sets * cache.ways * line
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _entries(tlb: Level) -> str:
    return f"{tlb.sets * tlb.ways} entries"


def _comparison(what: str, before: str, pairs: dict[str, tuple[float, float]]) -> MissComparison:
    rows = [MissChange(n, number(a), number(b), change(b, a)) for n, (a, b) in pairs.items()]
    bars = []
    for row, (one, other) in zip(rows, pairs.values(), strict=True):
        percent = 100 * other / one if one else 100.0
        kind = "gain" if other < one else "loss" if other > one else "none"
        text = f"{row.before} → {row.after} ({row.change})"
        bars.append(BarRow(row.event, text, kind, percent, percent, percent))
    title = f"halo in per cent of {before}; to the left of 100 is better"
    return MissComparison(what, before, HALO, rows, chart(title, bars, origin=100.0))


def _places(found: Sequence[tuple[str, int, Misses]]) -> list[MissPlace]:
    ranked = sorted(found, key=lambda it: -next(iter(it[2].values()), 0))[:WORST]
    return [
        MissPlace(name, number(accesses), [number(count) for count in misses.values()])
        for name, accesses, misses in ranked
    ]
