"""Simulated caches and TLBs: running a program under the simulator, and showing what it missed."""

from halo.simulation.machine_file import machine_text
from halo.simulation.running import Setting, Simulated, misses_json, simulate
from halo.simulation.table import plain_run_json, show_simulation, simulation_document

__all__ = [
    "Setting",
    "Simulated",
    "machine_text",
    "misses_json",
    "plain_run_json",
    "show_simulation",
    "simulate",
    "simulation_document",
]
