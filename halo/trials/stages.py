"""The stages of measurements; the journal stores each finished one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from halo.errors import RecordingFailed
from halo.profile import Profile, read_profile
from halo.recording.parts import Limits
from halo.schema.summary import RecordCost
from halo.schema.trial import Trial
from halo.strategies.planning import merge_recording
from halo.trials.racing.clock import processor
from halo.trials.runs.job import Configuration, Job, Output
from halo.trials.runs.laboratory import digest
from halo.trials.runs.launcher import Launcher
from halo.trials.runs.recorder_time import recording_seconds
from halo.trials.runs.rounds import Samples, Span, interleave, walls
from halo.trials.runs.simulated_runs import run_recorder
from halo.trials.session import Session, identities

PROFILE = "train.profile"


@dataclass(frozen=True)
class Rounds:
    """A series: recorded rounds and warm-up rounds, and the part of its stage that it is."""

    recorded: int
    warm_up: int = 1
    span: Span | None = None


def measure(
    session: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
) -> Samples:
    """Runs interleaved rounds of the configurations; stores each when it is complete."""
    inputs = session.inputs.of(job) | {"configurations": identities(configs)}
    return interleave(
        session.laboratory,
        job,
        configs,
        rounds.recorded,
        session.reporter.notice,
        rounds.warm_up,
        keep=partial(session.journal.rounds, name, inputs),
        span=rounds.span,
    )


def record(session: Session, job: Job, limits: Limits, streams: Limits | None = None) -> Profile:
    """The profile of the job; the cost of its recording goes to the findings.

    With `streams`, the profile is from a second recording with these limits.
    """
    session.reporter.stage("recording the training run", _expected_recording(session, job))
    path = session.options.results / PROFILE

    def compute() -> dict[str, Any]:
        seconds, equal = run_recording(session, job, limits, None if streams else path)
        if streams:
            run_recording(session, job, streams, path)
        return {"seconds": seconds, "output_equal": equal, "file": digest(path)}

    used = [asdict(it) for it in (limits, streams) if it is not None]
    found = with_file(session, "record", job, {"limits": used}, path, compute)
    note_cost(session, found["seconds"], found["output_equal"])
    return read_profile(path)


def _expected_recording(session: Session, job: Job) -> float:
    """Seconds that the recording is expected to take.

    They are predicted from the mean of the times under glibc and the fastest allocator: part of
    their difference is waiting for memory, which takes the recorder no time.
    """
    times = {
        label: _computing_and_waiting(trials) for label, trials in session.findings.training.items()
    }
    computing, waiting = times[session.findings.native.name]
    fastest = min(seconds for seconds, _ in times.values())
    mean = (computing + fastest) / 2
    return recording_seconds(job.target.path, mean, waiting, session.is_shared)


def _computing_and_waiting(trials: Sequence[Trial]) -> tuple[float, float]:
    """Median seconds in which the trials compute, and in which they wait otherwise."""
    waiting = median(max(0.0, it.wall - it.delayed - processor(it)) for it in trials)
    return max(median(map(processor, trials)), median(walls(trials)) - waiting), waiting


def note_cost(session: Session, seconds: float, output_equal: bool) -> None:
    """Adds the cost of a recording of the timed training input to the findings."""
    native = median(walls(session.findings.training[session.findings.native.name]))
    session.findings.record = RecordCost(seconds, native, output_equal, seconds / native)


def with_file(
    session: Session,
    name: str,
    job: Job,
    inputs: dict[str, Any],
    path: Path,
    compute: Callable[[], dict[str, Any]],
) -> dict[str, Any]:
    """A stage under the recorder that also writes `path`, whose digest is its result's `file`.

    The stage runs again if the file is gone or changed.
    """
    needs = session.recorder_inputs(job, **inputs)
    found: dict[str, Any] = session.journal.stage(name, needs, compute)
    if not path.is_file() or digest(path) != found["file"]:
        session.journal.forget(name)
        found = session.journal.stage(name, needs, compute)
    return found


def run_recording(
    session: Session, job: Job, limits: Limits, keep: Path | None
) -> tuple[float, bool]:
    """Seconds of a run under the recorder, and whether its output is the native one."""
    folder, environment = session.scratch / "record", session.options.environment
    with Launcher() as launcher:
        run = run_recorder(session.settings, launcher, job, environment, limits, folder)
    try:
        first = _output_of(session, job)
        if run.ending.signal or run.ending.exit_status != first.exit_status:
            raise RecordingFailed(
                f"{job.target.name} ended with status {run.ending.exit_status} under the recorder"
                f" instead of {first.exit_status}; try `halo record` on it to see why."
            )
        if keep is not None:
            parts = sorted(folder.glob("part.*.json"))
            merge_recording(parts, job.target.path, job.arguments, keep)
        return run.wall, digest(folder / "stdout") == first.stdout_sha256
    finally:
        shutil.rmtree(folder)


def _output_of(session: Session, job: Job) -> Output:
    if session.laboratory.output(job) is None:
        session.laboratory.measure(job, session.baselines()[0])
    output = session.laboratory.output(job)
    assert output is not None
    return output
