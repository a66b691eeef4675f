"""Simulated caches and TLBs: what a program missed in them, and showing it."""

from halo.simulation.machine_file import machine_text
from halo.simulation.run import Setting, Simulated, misses_json
from halo.simulation.table import plain_run_json, show_simulation, simulation_document

__all__ = [
    "Setting",
    "Simulated",
    "machine_text",
    "misses_json",
    "plain_run_json",
    "show_simulation",
    "simulation_document",
]
