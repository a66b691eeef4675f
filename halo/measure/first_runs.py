"""The first runs of a job, under glibc, which check that it can be measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from halo.measure.runs.failures import command_of
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.process_watch import ProcessWatch, Seen, refuse_wrapper, remark_others
from halo.measure.runs.standard_input import WARNING, ignored_input
from halo.measure.runs.trial_runner import TrialRunner

SHORT = 0.05  # seconds; the start of the process is too large a part of a shorter run
MIN_RUNS, MAX_RUNS = 2, 8
BRIEF = 0.4  # seconds of all runs, in which a short child may have been missed
MAX_BRIEF_RUNS = 30


@dataclass(frozen=True)
class FirstRuns:
    """Seconds of the first run, the peak memory of all in bytes, and warnings as sentences.

    `no_slices` is why rounds of the job have no time slices, as a clause; empty if they have.
    """

    seconds: float
    peak_memory: int
    remarks: list[str]
    no_slices: str = ""


def run_first(
    runner: TrialRunner,
    launcher: Launcher,
    job: Job,
    native: Configuration,
    place_objects: bool = True,
    begin_run: Callable[[Sequence[float]], None] = lambda _: None,
) -> FirstRuns:
    """Runs the job twice. Raises `TrialFailed` if the first run fails, or the outputs differ.

    If they only compute, runs it again to tell whether its rounds may have time slices.

    Calls `begin_run` before each run, with the seconds of those that have ended.

    With `place_objects`, raises `Unsuitable` if the program only executes another one. A short
    program runs more often, until the share of those that it executes is clear.
    """
    with ProcessWatch(launcher.pid, job.target.path) as watch:
        begin_run([])
        runs = [runner.measure(job, native)]
        while len(runs) < _wanted_runs(watch.seen, sum(run.wall for run in runs)):
            watch.begin_run()
            begin_run([run.wall for run in runs])
            runs.append(runner.measure(job, native))
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
        runner.consider_slices(job, native, runs),
    )


def _too_short(job: Job, seconds: float) -> str:
    what, larger = command_of(job), "an input"
    if job.service is not None:
        what, larger = f"The load {job.service.load}", "a load"
    return (
        f"{what} takes {1000 * seconds:.0f} ms, too short to measure: most of it is the start of"
        f" the process; use {larger} that needs {1000 * SHORT:.0f} ms at least."
    )


def _wanted_runs(seen: Seen, seconds: float) -> int:
    """The number of runs that shows what the program executes, after `seconds` of runs."""
    if seen.needs_more:
        return MAX_RUNS
    return MIN_RUNS if seen.others or seconds >= BRIEF else MAX_BRIEF_RUNS
