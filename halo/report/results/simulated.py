"""Simulated runs at the costs of today, so that results of different versions can be compared."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from halo.base.schema.document import Damaged
from halo.base.schema.simulation import SimulatedMachine, SimulatedRun
from halo.record.simulation.cost import modelled_cycles


def recosted(
    runs: Mapping[str, SimulatedRun], machine: SimulatedMachine, where: str
) -> dict[str, SimulatedRun]:
    """By label; `Damaged` if a run lacks the misses of a level of the machine."""
    return {label: _recosted(run, machine, f"{where}.{label}") for label, run in runs.items()}


def _recosted(run: SimulatedRun, machine: SimulatedMachine, what: str) -> SimulatedRun:
    try:
        by_kind = [[run.misses[it.name] for it in kind] for kind in (machine.caches, machine.tlbs)]
    except KeyError as error:
        raise Damaged(f"{what} has no misses of {error}") from error
    return replace(run, cycles=modelled_cycles(run.instructions, *by_kind))
