"""`halo run`: time the allocators, record, race the candidate plans, measure the kept one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from halo.process.allocators import Allocator
from halo.process.target import check_privileges
from halo.profile import Profile
from halo.recording.parts import Limits
from halo.recording.registry import find_producer
from halo.trials.candidates import PlanVariant, make_candidates, make_plans
from halo.trials.findings import HALO
from halo.trials.placement import MIN_TRIALS, all_within, plan_changes
from halo.trials.race import HEATS, race
from halo.trials.runs.job import Configuration, Job
from halo.trials.runs.rounds import Samples, relative_times, walls
from halo.trials.session import Session
from halo.trials.stages import Rounds, check_program, measure, record, time_allocators

NEAR = 1.03  # maximum time, over the best's, of next allocators in the race
MAX_ROUNDS = 21
FINAL_SECONDS = 6.0  # of runs of one finalist: short runs have more rounds, as they are noisier


@dataclass(frozen=True)
class Choice:
    """The variants to choose from, and the limits of the recording."""

    variants: Sequence[PlanVariant] = ()
    limits: Limits = field(default_factory=Limits)


def run(session: Session, choice: Choice, train: Job, reference: Job) -> None:
    """Runs all stages; a difference in output ends them, with the findings so far."""
    check_privileges(train.target)
    find_producer(session.settings)
    with session.watching_outputs(reference):
        check_program(session, [train, reference] if reference != train else [train])
        time_allocators(session, train)
        profile = record(session, train, choice.limits)
        _race(session, choice, train, profile)
        _check_dropped(session, train)
        _measure_reference(session, reference)


def baseline(session: Session, reference: Job) -> None:
    """Measures the baseline allocators alone, for `halo eval baseline`."""
    with session.watching_outputs(reference):
        check_program(session, [reference], place_objects=False)
        _measure(session, reference, session.baselines())


def _measure(session: Session, job: Job, configs: Sequence[Configuration]) -> None:
    session.reporter.stage("measuring on the reference input")
    rounds = Rounds(session.options.trials)
    session.findings.reference = measure(session, "reference", job, configs, rounds)


def _race(session: Session, choice: Choice, train: Job, profile: Profile) -> None:
    findings = session.findings
    session.reporter.stage("making candidate plans")
    folder, explain = session.options.results, session.reporter.tell
    plans = make_plans(profile, choice.variants, folder, explain)
    candidates = make_candidates(plans, _next_allocators(session))
    findings.candidates = candidates
    session.reporter.stage(f"racing {len(candidates)} candidates on the training input")
    configs = {c.label: session.planned(c, c.label) for c in candidates}

    def run_heat(labels: Sequence[str], rounds: int, heat: int) -> Samples:
        chosen = [configs[label] for label in labels]
        if heat < HEATS - 1:
            chosen = [replace(config, needs_cooldown=False) for config in chosen]
        return measure(session, f"race-{heat}", train, chosen, Rounds(rounds, int(heat == 0)))

    controls = [c.label for c in candidates if c.plan is None]
    huge_page_users = [c.label for c in candidates if c.huge_pages]
    control = median(walls(findings.training[candidates[0].allocator.name]))
    rounds = final_rounds(control, session.options.trials)
    findings.race, findings.verdict = race(
        run_heat, list(configs), controls, rounds, huge_page_users
    )


def _check_dropped(session: Session, train: Job) -> None:
    """Runs more rounds of the plans that the race dropped early, if only these leave a doubt.

    That is if no plan was kept and no finalist changes the time: the program is not
    placement-sensitive only if that holds for every plan.
    """
    findings = session.findings
    changes = plan_changes(findings)
    dropped = {c.label for c in changes if c.rounds < MIN_TRIALS}
    kept = findings.kept
    if kept is None or kept.plan is not None or not dropped or not all_within(changes):
        return
    controls = {c.label for c in findings.candidates if c.plan is None}
    chosen = [c for c in findings.candidates if c.label in dropped | controls]
    session.reporter.stage(f"running the {len(dropped)} other plans: does any change the time?")
    configs = [session.planned(c, c.label) for c in chosen]
    findings.checked = measure(session, "dropped", train, configs, Rounds(MIN_TRIALS))


def _next_allocators(session: Session) -> list[Allocator]:
    """The best allocators on the training input, the fastest first."""
    times = relative_times(session.findings.training)
    running = [allocator for allocator in session.allocators if allocator.name in times]
    ranked = sorted(running, key=lambda allocator: times[allocator.name])
    best = times[ranked[0].name]
    return [a for a in ranked if times[a.name] <= NEAR * best]


def _measure_reference(session: Session, reference: Job) -> None:
    findings = session.findings
    kept = findings.kept
    assert kept is not None
    if kept.plan is not None:
        _measure(session, reference, [*session.baselines(), session.planned(kept, HALO)])
        return
    # `none` equals the allocator's own configuration: a second series would measure only noise.
    _measure(session, reference, session.baselines())
    own = findings.reference.get(kept.allocator.name)
    if own is not None:
        findings.reference[HALO] = own


def final_rounds(seconds: float, trials: int) -> int:
    """The number of rounds for the finalists of the race, whose runs take about that long."""
    minimum = max(MIN_TRIALS, trials)
    return max(minimum, min(MAX_ROUNDS, round(FINAL_SECONDS / max(seconds, 0.01))))
