"""The runs before the recording: the first ones under glibc, and those of all allocators.

They are one stage if nothing else comes in between. A stage of first runs alone could tell what is
left of it only when a large part of it is over: nothing is known of a program before it has run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from halo.base.schema.trial import Trial
from halo.measure.first_runs import MIN_RUNS, run_first
from halo.measure.inputs.footprint import footprint_warning
from halo.measure.inputs.roles import Inputs
from halo.measure.racing.sequential import EARLY_LOOK
from halo.measure.results import left_out
from halo.measure.runs.job import Job
from halo.measure.runs.processor_load import LoadMeter
from halo.measure.runs.recorder_time import processors_are_shared
from halo.measure.runs.rounds import RunProgress, Span
from halo.measure.session import Session
from halo.measure.stages import Rounds, measure

MIN_ROUNDS, MIN_IN_SLICES = 2, 1  # of the allocators: in time slices, one tells as much as many
TYPICAL = 0.8  # the time under a baseline allocator over that of a first run


@dataclass
class Forecast:
    """Predicts the stage of the first runs of all jobs, from the first run of each.

    `allocators`: how many are then timed on the first job, in the same stage; 0 if none are.
    """

    jobs: int
    allocators: int = 0
    native: str = "glibc"
    seconds: list[float] = field(default_factory=list)  # of the jobs that have run, in order

    def step(self, job: int, ended: Sequence[float]) -> RunProgress:
        """The next run of a job; `ended` has the seconds of its earlier ones."""
        if ended:
            self.seconds[job:] = [ended[0]]
        repeated = min(len(ended), MIN_RUNS - 1)  # short programs run more often
        done, first_runs = MIN_RUNS * job + repeated, MIN_RUNS * self.jobs
        if not self.seconds:
            return RunProgress(done, 0 if self.allocators else first_runs, self.native)
        known = self.seconds + [self.seconds[-1]] * (self.jobs - len(self.seconds))
        left = MIN_RUNS * sum(known[job:]) - repeated * known[job]
        timed = self.allocators * quick_trials(known[0])
        return RunProgress(done, first_runs + timed, self.native, left + TYPICAL * known[0] * timed)


def check_program(session: Session, jobs: Sequence[Job], place_objects: bool = True) -> list[int]:
    """Runs each job under glibc first, to refuse programs that cannot be measured.

    Returns the peak memory of each job in bytes.
    Not journaled, as the outputs of all other runs are compared with those of these runs.
    """
    native = session.findings.native.name
    forecast = Forecast(len(jobs), native=native)
    return _run_first(session, f"running it under {native} first", jobs, forecast, place_objects)


def time_allocators(session: Session, job: Job, before: int = 0) -> None:
    """Times the baseline allocators on the measured input, which has run before.

    `before`: the runs before these in the same stage; by default the stage is their own.
    The load of other programs meanwhile tells whether the recorder will share processors with them.
    """
    plain = session.baselines()
    session.timed = job
    seconds = session.native_seconds[job]
    fewest = MIN_IN_SLICES if session.in_slices(job, plain) else MIN_ROUNDS
    trials = session.journal.stage(
        "allocator-rounds", session.inputs.of(job), lambda: quick_trials(seconds, fewest)
    )
    runs = before + trials * len(plain)
    if before:
        session.reporter.expect(TYPICAL * seconds * runs)
    else:
        session.reporter.stage("timing the allocators", TYPICAL * seconds * runs)
    meter = LoadMeter.start()
    timed = measure(session, "allocators", job, plain, Rounds(trials, 0, Span(before, runs)))
    own = sum(_work(each) for of_one in timed.values() for each in of_one)
    session.is_shared = processors_are_shared(meter.others(own))
    session.findings.training = timed
    for name, why in session.runner.left_out.items():
        session.reporter.warn(
            left_out(name, session.findings.program, why, session.findings.native.name)
        )


def check_and_time(session: Session, inputs: Inputs) -> None:
    """As `check_program` of all inputs, and `time_allocators` on the measured one, in one stage."""
    jobs = inputs.all
    native = session.findings.native.name
    forecast = Forecast(len(jobs), len(session.baselines()), native)
    stage = f"running it under each allocator, {native} first"
    peaks = dict(zip(jobs, _run_first(session, stage, jobs, forecast), strict=True))
    if inputs.holds_out:
        warning = footprint_warning(peaks[inputs.measured], peaks[inputs.answered])
        if warning:
            session.remark(warning)
    session.holds_out = inputs.holds_out
    time_allocators(session, inputs.measured, MIN_RUNS * len(jobs))


def quick_trials(seconds: float, fewest: int = MIN_ROUNDS) -> int:
    """The rounds needed to compare the allocators: many of a short run, few of a long one."""
    return max(fewest, min(15, round(3 / max(seconds, 0.01))))


def _run_first(
    session: Session,
    stage: str,
    jobs: Sequence[Job],
    forecast: Forecast,
    place_objects: bool = True,
) -> list[int]:
    """Begins the stage with the first runs; the peak memory of each job in bytes."""
    reporter, trials = session.reporter, session.options.trials
    if 0 < trials < EARLY_LOOK:
        reporter.warn(
            f"--trials {trials} shows figures only: fewer than {EARLY_LOOK} trials conclude"
            " nothing."
        )
    reporter.stage(stage)
    native = session.baselines()[0]
    peaks = []
    said = ""

    def begin_run(number: int, ended: Sequence[float]) -> None:
        reporter.notice(forecast.step(number, ended))

    for number, job in enumerate(jobs):
        session.inputs.begin(job)
        found = run_first(
            session.runner,
            session.launcher,
            job,
            native,
            place_objects,
            partial(begin_run, number),
        )
        session.native_seconds[job] = found.seconds
        session.peak_memory[job] = found.peak_memory
        for remark in found.remarks:
            session.remark(remark)
        inputs = session.inputs.of(job)
        why = session.journal.stage(f"slices-{number}", inputs, partial(str, found.no_slices))
        session.runner.permit_slices(job, not why)
        sentence = f"no time slices: {why}" if why else "rounds have time slices"
        if sentence != said:  # as on the input before
            reporter.tell(sentence)
        said = sentence
        peaks.append(found.peak_memory)
    return peaks


def _work(trial: Trial) -> float:
    """Processor time of a trial and the littering before it."""
    keys = ("user_seconds", "system_seconds")
    littering: float = sum(trial.litter.get(key, 0.0) for key in keys)
    return trial.user + trial.system + littering
