"""Runs a program with its caches and TLBs simulated, with or without a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.allocators import alone
from halo.binary.process.target import Target
from halo.plan.runtimes import under_plan
from halo.record.parts import Limits, machine_argument, workspace
from halo.record.producer import Producer, RecordingJob
from halo.record.profile import merge_parts
from halo.record.run import record
from halo.record.simulation import Simulated, SimulatedLayout


def simulate(
    engine: Producer,
    settings: Settings,
    target: Target,
    arguments: list[str],
    setting: SimulatedLayout,
    follow: Callable[[Path], Callable[[], None]],
) -> Simulated:
    """Runs the program under the recorder, on our own streams.

    `follow` gets the progress file and returns a function that is called at intervals.
    """
    environment = alone(settings.environment, setting.allocator)
    if setting.plan is not None:
        environment = under_plan(
            settings.environment, settings.runtime, setting.plan, setting.allocator
        )
    with workspace() as folder:
        machine = machine_argument(setting.machine, folder)
        sinks: dict[str, int | str] = {
            "machine": machine,
            "classes": int(setting.classes),
            "sweep": int(setting.sweep),
        }
        limits = Limits(setting.max_object or Limits.max_object, sinks)
        job = RecordingJob(target, arguments, limits, guest=setting.plan is None)
        inside = replace(settings, environment=environment)
        recording = record(engine, inside, job, folder, follow(folder / "progress"))
        if not recording.parts:
            raise RecordingFailed(
                f"{target.name} ended without results of the simulation; check that it runs to its"
                " end, and the recorder with: halo doctor"
            )
        return Simulated(recording.ending, merge_parts(recording.parts, target.path, arguments))
