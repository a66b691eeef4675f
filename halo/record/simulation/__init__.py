"""Simulated caches and TLBs: the misses of a program, as data and as tables."""

from halo.record.simulation.machine_file import machine_names, machine_text, prefetches
from halo.record.simulation.run import Simulated, SimulatedLayout, run_misses, simulation_of
from halo.record.simulation.table import (
    code_misses,
    context_misses,
    show_simulation,
    simulation_document,
)

__all__ = [
    "Simulated",
    "SimulatedLayout",
    "code_misses",
    "context_misses",
    "machine_names",
    "machine_text",
    "prefetches",
    "run_misses",
    "show_simulation",
    "simulation_document",
    "simulation_of",
]
