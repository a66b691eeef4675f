"""Runs a configuration once with simulated caches and TLBs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.base.schema.simulation import SimulatedRun
from halo.base.settings import Settings
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.runs.single_run import UNLIMITED, recorded_limits, run_job
from halo.record.parts import Limits
from halo.record.producer import Producer
from halo.record.producer import RecordingJob as Recorded
from halo.record.profile import Profile, merge_parts
from halo.record.registry import find_producer
from halo.record.simulation import run_misses


def run_recorder(
    settings: Settings,
    launcher: Launcher,
    job: Job,
    environment: Mapping[str, str],
    limits: Limits,
    folder: Path,
    guest: bool = True,
    producer: Producer | None = None,
    enough: float | None = None,
) -> Run:
    """Runs the job once under the recorder, which writes parts and streams to the new folder.

    After `enough` seconds the run is ended, with what was recorded until then.
    Raises `RecordingFailed` if the job is a service that did not get through its load.
    """
    folder.mkdir()
    inside = replace(settings, environment=environment)
    engine = producer or find_producer(settings, everything=limits.need_everything or not guest)
    recorded = Recorded(job.target, job.arguments, limits, guest)
    streams = Streams(job.stdin or Path("/dev/null"), folder / "stdout", folder / "stderr")
    with engine.session(inside, recorded, folder) as command:
        times = recorded_limits(job, enough) if guest else UNLIMITED
        run = run_job(launcher, job, command, streams, settings.environment, times)
    if not run.was_cut:
        engine.judge(recorded, run.ending, folder)
    if run.failure is not None:
        raise RecordingFailed(
            f"{job.target.name} cannot be recorded: under the recorder,"
            f" {run.failure.what}{run.failure.words}; {run.failure.way_out}."
        )
    return run


def simulate_config(
    settings: Settings, job: Job, environment: Mapping[str, str], scratch: Path
) -> SimulatedRun:
    """Misses of this machine's caches and TLBs, as `halo study eval simulate --json` has them."""
    return run_misses(simulated_profile(settings, job, environment, scratch))


def simulated_profile(
    settings: Settings, job: Job, environment: Mapping[str, str], scratch: Path
) -> Profile:
    """One run with this machine's caches and TLBs simulated, without tracking allocations."""
    folder = scratch / "simulate"
    with Launcher() as launcher:
        limits = Limits(sinks={"machine": "this"})
        run = run_recorder(settings, launcher, job, environment, limits, folder, guest=False)
    try:
        parts = sorted(folder.glob("part.*.json"))
        if run.ending.signal or not parts:
            raise RecordingFailed(
                f"{job.target.name} did not run to its end under the simulator; to see why,"
                " run: halo study eval simulate -- PROG ARGS"
            )
        return merge_parts(parts, job.target.path, job.arguments)
    finally:
        shutil.rmtree(folder)
