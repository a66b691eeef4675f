"""Several recorded inputs of one measurement, and inputs on which a plan must not be slower.

The plan that the race keeps is compared with no plan on each of these. If it is slower there, the
next best plan takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from halo.base.errors import RecordingFailed
from halo.measure.candidates import Candidate
from halo.measure.inputs.recordings import RecordedRun, recording_stage, run_recording
from halo.measure.racing.sequential import FIRST_LOOK
from halo.measure.racing.verdict import next_best
from halo.measure.runs.failures import command_of
from halo.measure.runs.job import Job
from halo.measure.runs.recorder_time import recording_seconds
from halo.measure.runs.rounds import walls
from halo.measure.session import Session
from halo.measure.stages import PROFILE, Rounds, measure, note_cost
from halo.measure.statistics import ratio
from halo.plan.merging.document import merge_document
from halo.plan.merging.inputs import Input, merge_inputs
from halo.plan.merging.score import judge, score_inputs
from halo.plan.merging.table import remarks
from halo.record.parts import Limits
from halo.record.profile import Profile, read_profile, write_profile


@dataclass(frozen=True)
class Recorded:
    """A recorded input, its recording and its profile."""

    job: Job
    path: Path
    profile: Profile
    run: RecordedRun


def record_inputs(session: Session, jobs: Sequence[Job], limits: Limits) -> Profile | None:
    """Records each job, as `train-1.profile` and so on, and writes the merged `train.profile`.

    Finished recordings of an interrupted measurement are used again. An input without accesses is
    left out of the profile, as it has no weight. So is one that cannot be recorded. None if none
    can be.
    """
    inputs = []
    for number in range(1, len(jobs) + 1):
        try:
            inputs.append(_record(session, number, jobs, limits))
        except RecordingFailed:
            session.remark(
                f"Recorded input {number} could not be recorded, so it has no part in the plans."
            )
    if not inputs:
        return None
    used = [one for one in inputs if one.profile.accesses]
    for one in inputs:
        if one not in used:
            session.remark(
                f"The recorded input of {one.path.name} accesses no heap objects, so it has no part"
                " in the plans."
            )
    profile = _merged(session, used) if len(used) > 1 else (used or inputs)[0].profile
    write_profile(profile, session.options.results / PROFILE)
    note_cost(session, inputs[0].run, inputs[0].job)
    return profile


def _record(session: Session, number: int, jobs: Sequence[Job], limits: Limits) -> Recorded:
    job, path = jobs[number - 1], session.options.results / f"train-{number}.profile"
    session.reporter.stage(
        f"recording input {number} of {len(jobs)}",
        recording_seconds(
            job.target.path,
            session.native_seconds.get(job, 0.0),
            is_shared=session.is_shared,
        ),
        is_extra=number > 1,
    )

    def compute() -> RecordedRun:
        return run_recording(session, job, limits, path)

    used = {"limits": [asdict(limits)]}
    run = recording_stage(session, f"record-{number}", job, used, path, compute)
    return Recorded(job, path, read_profile(path), run)


def _merged(session: Session, used: Sequence[Recorded]) -> Profile:
    inputs = [Input(Path(one.path.name), one.profile) for one in used]
    merged = merge_inputs(inputs)
    for sentence in remarks(merge_document(inputs, merged, (), None)):
        session.remark(sentence)
    session.reporter.tell(judge(score_inputs(inputs), [one.path.stem for one in used]))
    return merged.profile


def judge_on_others(session: Session, jobs: Sequence[Job]) -> None:
    """Drops the kept plan if it is slower than no plan on any of the jobs.

    The next best plan of the final is then kept and judged likewise, and no plan if none is left.
    """
    findings = session.findings
    if findings.verdict is None:
        return
    controls = [one.label for one in findings.candidates if one.plan is None]
    rejected: list[str] = []
    while (kept := findings.kept) and kept.plan and _is_slower(session, kept, jobs, len(rejected)):
        rejected.append(kept.label)
        other = next_best(findings.final, controls, rejected) or controls[0]
        findings.verdict = replace(findings.verdict, kept=other)
    if rejected and findings.verdict.kept in controls:
        findings.rejected = rejected[0]


def _is_slower(session: Session, kept: Candidate, jobs: Sequence[Job], tried: int) -> bool:
    """Whether the plan is slower than no plan on any of the jobs, and a remark if it is.

    Both run `FIRST_LOOK` rounds on each job. Slower means that the whole 95 % interval of the gain
    is below 1. `tried`: the number of plans before.
    """
    control = next(one for one in session.findings.candidates if one.plan is None)
    for number, job in enumerate(jobs, 1):
        seconds = 2 * (1 + FIRST_LOOK) * session.native_seconds.get(job, 0.0)
        session.reporter.stage(f"checking {kept.label} on another input", seconds, is_extra=True)
        configs = [session.planned(one, one.label) for one in (control, kept)]
        name = f"other-input-{tried + 1}-{number}"
        samples = measure(session, name, job, configs, Rounds(FIRST_LOOK))
        gain = ratio(walls(samples[control.label]), walls(samples[kept.label]))
        if gain.high < 1:
            session.remark(
                f"{kept.label} was the fastest plan{' left' if tried else ''}, but it is not kept:"
                f" on {command_of(job)} it is slower than no plan ({gain.value:.2f},"
                f" {gain.low:.2f} to {gain.high:.2f})."
            )
            return True
    return False
