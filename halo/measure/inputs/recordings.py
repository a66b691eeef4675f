"""Records a job under the first engine that can: each program fails under some engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from halo.base.errors import BadProfile, HaloError, RecordingFailed
from halo.binary.process.foreground import Ending
from halo.measure.reporter import duration
from halo.measure.runs.failures import Overdue, last_words
from halo.measure.runs.job import Job, Output, digest
from halo.measure.runs.launcher import Launcher, Run
from halo.measure.runs.recorder_time import planning_seconds, seconds_under
from halo.measure.runs.simulated_runs import run_recorder
from halo.measure.session import Session
from halo.record.merge import merge_recording
from halo.record.parts import Limits, gather_parts
from halo.record.producer import EngineFailed, Producer, has_no_bursts
from halo.record.registry import usable_engines

TOLD = 3.0  # seconds from the end of a recording to its plans, from which on they are announced


@dataclass(frozen=True)
class RecordedRun:
    """A recording: its seconds, whether its output was the native one, and its engine.

    `failed` has a sentence for each engine that could not record the program.
    """

    seconds: float
    output_equal: bool
    engine: str
    failed: Sequence[str] = ()


def recording_stage(
    session: Session,
    name: str,
    job: Job,
    inputs: dict[str, Any],
    path: Path,
    compute: Callable[[], RecordedRun],
) -> RecordedRun:
    """The recording that `compute` writes to `path`, or the stored one of an earlier call."""
    found = with_file(
        session, name, job, inputs, path, lambda: asdict(compute()) | {"file": digest(path)}
    )
    for sentence in found["failed"]:
        session.remark(sentence)
    del found["file"]
    return RecordedRun(**found)


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


def run_recording(session: Session, job: Job, limits: Limits, keep: Path | None) -> RecordedRun:
    """A run under the first engine that can record the job; the profile goes to `keep`.

    Raises `RecordingFailed` with what each engine met. After one that exceeded its time limit, no
    slower one is tried.
    """
    engines, missing = usable_engines(session.settings, limits.need_everything)
    failed: list[str] = []
    while engines:
        engine, *engines = engines
        try:
            run, output_equal = _run_under(engine, session, job, limits, keep)
            return RecordedRun(run.wall, output_equal, engine.name, tuple(failed))
        except (RecordingFailed, Overdue) as error:
            failed.append(_sentence(engine, job, error))
            session.remark(failed[-1])
            if isinstance(error, Overdue):
                engines = [it for it in engines if it.slowdown <= engine.slowdown]
        if engines:
            native = session.native_seconds.get(job, 0.0)
            expected = seconds_under(engines[0].slowdown, native)
            what = f"recording it with the engine {engines[0].name} instead"
            session.reporter.stage(what, expected, is_extra=True)
    for name, why in missing.items():
        failed.append(f"The engine {name}, which may record it, does not work here: {why}.")
        session.remark(failed[-1])
    raise RecordingFailed(" ".join(failed))


def _sentence(engine: Producer, job: Job, error: HaloError) -> str:
    if isinstance(error, EngineFailed):
        return f"{job.target.name} cannot be recorded with {engine.name}: it {error.cause}."
    return f"With the engine {engine.name}: {error}"


def _run_under(
    engine: Producer, session: Session, job: Job, limits: Limits, keep: Path | None
) -> tuple[Run, bool]:
    """A run under that engine, and whether its output is the native one."""
    folder, environment = session.scratch / "record", session.options.environment
    try:
        with Launcher() as launcher:
            run = run_recorder(
                session.settings,
                launcher,
                job,
                environment,
                limits,
                folder,
                producer=engine,
                enough=session.enough_recording,
            )
        if run.was_cut:
            if keep is not None:
                _keep(session, engine, job, folder, keep)
            session.remark(
                f"The recording was ended after {duration(run.wall)}, so plans are made from the"
                " beginning of the run; a smaller input can be recorded whole (--record 'ARGS')."
            )
            return run, True
        first = _output_of(session, job)
        if run.ending.signal or run.ending.exit_status != first.exit_status:
            raise EngineFailed(_other_ending(engine, run.ending, first, folder))
        if keep is not None:
            _keep(session, engine, job, folder, keep)
        return run, digest(folder / "stdout") == first.stdout_sha256
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _other_ending(engine: Producer, ending: Ending, first: Output, folder: Path) -> str:
    """What a program did that ended otherwise than natively, with the cause if it is known."""
    how = f"ended with status {ending.exit_status}"
    if ending.signal:
        how = f"died by signal {ending.signal}"
    words = last_words(folder / "stderr").removeprefix(": ")
    suspicion = engine.suspicion(ending, folder)
    return (
        f"{how} instead of status {first.exit_status}"
        f"{f' ({words})' if words else ''}{f'; it {suspicion}' if suspicion else ''}"
    )


def _keep(session: Session, engine: Producer, job: Job, folder: Path, path: Path) -> None:
    parts = gather_parts(folder)
    if not parts:
        raise EngineFailed("left no profile")
    seconds = planning_seconds(job.target.path, sum(part.stat().st_size for part in parts))
    if seconds >= TOLD:
        session.reporter.tell(f"recorded; making its plans takes about {duration(seconds)} more")
    try:
        profile = merge_recording(parts, job.target.path, job.arguments, path)
    except BadProfile as error:
        raise EngineFailed(f"left an unusable profile ({str(error).rstrip('.')})") from error
    if has_no_bursts(engine, profile):
        raise EngineFailed("had no burst of accesses")


def _output_of(session: Session, job: Job) -> Output:
    if session.runner.output(job) is None:
        session.runner.measure(job, session.baselines()[0])
    output = session.runner.output(job)
    assert output is not None
    return output
