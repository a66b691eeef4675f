"""Runs a contender once with its caches and TLBs simulated."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from halo.errors import RecordingFailed
from halo.producers.producer import Job as Recorded
from halo.producers.registry import find_producer
from halo.profile import Profile, merge_parts
from halo.recording import Limits
from halo.settings import Settings
from halo.simulation import misses_json
from halo.trials.job import Job
from halo.trials.launcher import Launcher, Run, Streams


def run_recorder(
    settings: Settings,
    launcher: Launcher,
    job: Job,
    environment: Mapping[str, str],
    limits: Limits,
    folder: Path,
    guest: bool = True,
) -> Run:
    """One run of the job under the recorder; its parts and streams are left in the new folder."""
    folder.mkdir()
    inside = replace(settings, environment=environment)
    engine = find_producer(settings)
    recorded = Recorded(job.target, job.arguments, limits, guest)
    streams = Streams(job.stdin or Path("/dev/null"), folder / "stdout", folder / "stderr")
    with engine.session(inside, recorded, folder) as command:
        run = launcher.run(command.path, command.arguments, command.environment, streams)
    engine.judge(recorded, run.ending, folder)
    return run


def simulate_contender(
    settings: Settings, job: Job, environment: Mapping[str, str], scratch: Path
) -> dict[str, Any]:
    """Misses of this machine's caches and TLBs, as `halo simulate --json` has them."""
    return misses_json(simulated_profile(settings, job, environment, scratch))


def simulated_profile(
    settings: Settings, job: Job, environment: Mapping[str, str], scratch: Path
) -> Profile:
    """One run with this machine's caches and TLBs simulated; allocations are not followed."""
    folder = scratch / "simulate"
    with Launcher() as launcher:
        run = run_recorder(
            settings, launcher, job, environment, Limits(machine="this"), folder, guest=False
        )
    try:
        parts = sorted(folder.glob("part.*.json"))
        if run.ending.signal or not parts:
            raise RecordingFailed(
                f"{job.target.name} did not run to its end under the simulator; try `halo simulate`"
                " on it to see why."
            )
        return merge_parts(parts, job.target.path, job.arguments)
    finally:
        shutil.rmtree(folder)
