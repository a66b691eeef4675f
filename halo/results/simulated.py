"""The simulation of a results file: misses by level for each contender, context and code place."""

from __future__ import annotations

from typing import Any

from halo.results.document import Damaged, count, counts, mapping, rows, text
from halo.results.model import Level, Misses, Simulated, SimulatedMachine, Simulation
from halo.simulation.cost import modelled_cycles


def parse_simulation(raw: Any, what: str) -> Simulation:
    """The checked simulation; `Damaged` names what is wrong."""
    found = mapping(raw, what)
    contenders = mapping(found.get("contenders"), f"{what}.contenders")
    if not contenders:
        raise Damaged(f"{what} has no contenders")
    machine = parse_machine(found.get("machine"), f"{what}.machine")
    return Simulation(
        input=text(found.get("input"), f"{what}.input"),
        machine=machine,
        contenders={label: parse_simulated(it, label, machine) for label, it in contenders.items()},
        contexts=_places(found.get("contexts", []), "context"),
        code=_places(found.get("code", []), "place"),
    )


def parse_machine(value: Any, what: str) -> SimulatedMachine:
    """The simulated machine; `Damaged` names what is wrong."""
    raw = mapping(value, what)
    if not raw.get("caches") or not raw.get("tlbs"):
        raise Damaged("the simulated machine has no caches or no TLBs")
    return SimulatedMachine(
        line=count(raw.get("line"), "line"),
        page=count(raw.get("page"), "page"),
        caches=tuple(_level(it, "caches") for it in rows(raw.get("caches"), "caches")),
        tlbs=tuple(_level(it, "tlbs") for it in rows(raw.get("tlbs"), "tlbs")),
        memory_cycles=count(raw.get("memory_cycles"), "memory_cycles"),
        walk_cycles=count(raw.get("walk_cycles"), "walk_cycles"),
    )


def _level(raw: Any, what: str) -> Level:
    found = dict(mapping(raw, what))
    return Level(text(found.pop("name", None), f"{what}.name"), counts(found, what))


def parse_simulated(value: Any, label: str, machine: SimulatedMachine) -> Simulated:
    """With the costs of today, so that results of different versions can be compared."""
    raw = mapping(value, label)
    instructions = count(raw.get("instructions"), f"{label}.instructions")
    misses = counts(raw.get("misses"), f"{label}.misses")
    try:
        by_level = [[misses[it.name] for it in kind] for kind in (machine.caches, machine.tlbs)]
    except KeyError as error:
        raise Damaged(f"{label} has no misses of {error}") from error
    return Simulated(
        instructions=instructions,
        accesses=count(raw.get("accesses"), f"{label}.accesses"),
        cycles=modelled_cycles(instructions, *by_level),
        misses=misses,
    )


def _places(raw: Any, key: str) -> tuple[Misses, ...]:
    found = []
    for item in rows(raw, f"simulation.{key}"):
        entry = mapping(item, f"simulation.{key}")
        place = str(count(entry.get(key), key)) if key == "context" else text(entry.get(key), key)
        accesses = count(entry.get("accesses"), f"{key} {place}.accesses")
        found.append(Misses(place, accesses, counts(entry.get("misses"), f"{key} {place}.misses")))
    return tuple(found)
