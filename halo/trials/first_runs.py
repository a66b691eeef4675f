"""The first runs of a job, under glibc, which check that it can be measured."""

from __future__ import annotations

from dataclasses import dataclass

from halo.trials.runs.failures import command_of
from halo.trials.runs.job import Configuration, Job
from halo.trials.runs.laboratory import Laboratory
from halo.trials.runs.launcher import Launcher
from halo.trials.runs.process_watch import ProcessWatch, refuse_wrapper, remark_others
from halo.trials.runs.standard_input import WARNING, ignored_input

SHORT = 0.05  # seconds; the start of the process is too large a part of a shorter run
MAX_RUNS = 8


@dataclass(frozen=True)
class FirstRuns:
    """Seconds of the first run, the peak memory of all in bytes, and warnings as sentences."""

    seconds: float
    peak_memory: int
    remarks: list[str]


def run_first(
    laboratory: Laboratory,
    launcher: Launcher,
    job: Job,
    native: Configuration,
    place_objects: bool = True,
) -> FirstRuns:
    """Runs the job twice. Raises `TrialFailed` if the first run fails, or the outputs differ.

    With `place_objects`, raises `Unsuitable` if the program only executes another one. A short
    program that executes others runs more often, until its share of the work is clear.
    """
    with ProcessWatch(launcher.pid, job.target.path) as watch:
        runs = [laboratory.measure(job, native) for _ in range(2)]
        while len(runs) < MAX_RUNS and watch.seen.needs_more:
            runs.append(laboratory.measure(job, native))
    remarks = []
    if place_objects:
        refuse_wrapper(job.target.name, watch.seen)
        remarks.append(remark_others(job.target.name, watch.seen))
    if job.stdin is None and ignored_input():
        remarks.append(WARNING)
    seconds = min(run.wall for run in runs)
    if seconds < SHORT:
        remarks.append(_too_short(job, seconds))
    return FirstRuns(
        runs[0].wall,
        max(run.peak_memory for run in runs),
        [remark for remark in remarks if remark],
    )


def _too_short(job: Job, seconds: float) -> str:
    what, larger = command_of(job), "an input"
    if job.service is not None:
        what, larger = f"The load {job.service.load}", "a load"
    return (
        f"{what} takes {1000 * seconds:.0f} ms, too short to measure: most of it is the start of"
        f" the process; use {larger} that needs {1000 * SHORT:.0f} ms at least."
    )
