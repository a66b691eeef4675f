"""The first runs of a job, under glibc: they show whether there is anything to be measured."""

from __future__ import annotations

from dataclasses import dataclass

from halo.trials.failures import shown
from halo.trials.job import Contender, Job
from halo.trials.laboratory import Laboratory
from halo.trials.launcher import Launcher
from halo.trials.process_watch import ProcessWatch, refuse_wrapper, remark_others
from halo.trials.standard_input import WARNING, ignored_input

SHORT = 0.05  # seconds: of a shorter run, starting the process is too large a part
MAX_RUNS = 8


@dataclass(frozen=True)
class FirstRuns:
    """Seconds of the first run, and what is doubtful, a sentence each."""

    seconds: float
    remarks: list[str]


def run_first(
    laboratory: Laboratory,
    launcher: Launcher,
    job: Job,
    native: Contender,
    place_objects: bool = True,
) -> FirstRuns:
    """Two runs. TrialFailed if the first fails, or the second does not do the same.

    With `place_objects`, Unsuitable if the program only executes another one. A short program that
    executes others runs more than twice, until it shows who does the work.
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
        remarks.append(
            f"{shown(job)} takes {1000 * seconds:.0f} ms, too little to measure: most of it is the"
            f" start of the process; take an input that needs {1000 * SHORT:.0f} ms at least."
        )
    return FirstRuns(runs[0].wall, [remark for remark in remarks if remark])
