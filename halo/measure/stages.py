"""The stages of measurements; the journal stores each finished one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median

from halo.base.schema.summary import RecordCost
from halo.base.schema.trial import Trial
from halo.measure.inputs.recordings import RecordedRun, recording_stage, run_recording
from halo.measure.racing.clock import processor
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.recorder_time import recording_seconds
from halo.measure.runs.rounds import Samples, Span, interleave, walls
from halo.measure.session import Session, identities
from halo.record.parts import Limits
from halo.record.profile import Profile, read_profile

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
        session.runner,
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
    session.reporter.stage("recording it", _expected_recording(session, job))
    path = session.options.results / PROFILE

    def compute() -> RecordedRun:
        found = run_recording(session, job, limits, None if streams else path)
        if streams:
            run_recording(session, job, streams, path)
        return found

    used = [asdict(it) for it in (limits, streams) if it is not None]
    run = recording_stage(session, "record", job, {"limits": used}, path, compute)
    note_cost(session, run, job)
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
    share = native_seconds(session, job) / median(
        walls(session.findings.training[session.findings.native.name])
    )
    mean, waiting = share * (computing + fastest) / 2, share * waiting
    return recording_seconds(job.target.path, mean, waiting, session.is_shared)


def _computing_and_waiting(trials: Sequence[Trial]) -> tuple[float, float]:
    """Median seconds in which the trials compute, and in which they wait otherwise."""
    waiting = median(max(0.0, it.wall - it.delayed - processor(it)) for it in trials)
    return max(median(map(processor, trials)), median(walls(trials)) - waiting), waiting


def native_seconds(session: Session, job: Job) -> float:
    """Of a run without halo; of the job that the allocators were timed on, the median."""
    timed = session.findings.training.get(session.findings.native.name, [])
    if timed and session.timed in (job, None):
        return median(walls(timed))
    return session.native_seconds[job]


def note_cost(session: Session, run: RecordedRun, job: Job) -> None:
    """Adds the cost of the job's recording to the findings."""
    native = native_seconds(session, job)
    session.findings.record = RecordCost(
        run.seconds, native, run.output_equal, run.seconds / native, run.engine
    )
