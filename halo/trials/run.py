"""`halo run`: time the allocators, record, race the candidate plans, measure the kept one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from halo.elf import build_id_of
from halo.errors import RecordingFailed
from halo.plan import read_plan, write_plan
from halo.process.allocators import Allocator
from halo.process.target import check_privileges
from halo.profile import Profile, unrecorded_profile
from halo.profile.collection import without_collection
from halo.recording.parts import Limits
from halo.recording.registry import find_producer
from halo.strategies.factory import strategy_named
from halo.trials.candidates import Candidate, PlanVariant, make_candidates, make_plans
from halo.trials.findings import HALO, Findings, best_baseline, wide_spreads
from halo.trials.inputs.training_inputs import judge_on_others, record_inputs
from halo.trials.inputs.unrecorded import (
    TYPICAL,
    check_and_time,
    check_inputs,
    check_program,
    time_allocators,
)
from halo.trials.placement import MIN_TRIALS, THRESHOLD, all_within, plan_changes
from halo.trials.racing.field import Field
from halo.trials.racing.heats import Heat
from halo.trials.racing.race import race, screen_runs
from halo.trials.racing.sequential import LAST_LOOK, paired_gain
from halo.trials.runs.job import Configuration, Job
from halo.trials.runs.laboratory import COOLDOWN
from halo.trials.runs.rounds import Samples, Span, relative_times, walls
from halo.trials.session import Session
from halo.trials.stages import PROFILE, Rounds, measure, note_cost, record

NEAR = 1.03  # maximum time, over the best's, of next allocators in the race
STAGES = 5  # six with several training inputs, which are recorded before the allocators run
FINAL_SECONDS = 110.0  # of the final: short runs have more rounds, as they are noisier
MIN_OF_FINAL, MAX_OF_FINAL = 9, 30  # rounds, if none leave, however long or short the runs are
REFERENCE_SECONDS = 60.0  # for more rounds on the reference input than the fewest
MAX_OF_REFERENCE = 11  # rounds
FEW_ROUNDS = 4  # on the reference input, after which the number of rounds is predicted


@dataclass(frozen=True)
class Choice:
    """The variants to choose from, the limits of the recording, and further training inputs."""

    variants: Sequence[PlanVariant] = ()
    limits: Limits = field(default_factory=Limits)
    more: Sequence[Job] = ()


def run(session: Session, choice: Choice, train: Job, reference: Job) -> None:
    """Runs all stages; a difference in output ends them, with the findings so far."""
    check_privileges(train.target)
    find_producer(session.settings)
    with session.watching_outputs(reference):
        if choice.more:
            inputs = [train, *choice.more]
            check_inputs(session, inputs, reference)
            training = record_inputs(session, inputs, choice.limits)
            train, profile, others = training.raced, training.profile, training.others
            time_allocators(session, train)
            if training.run is not None:
                note_cost(session, training.run)
        else:
            check_and_time(session, train, reference)
            profile, others = _recorded(session, train, choice.limits), []
        if profile is None:
            choice, profile = _without_recording(session, choice, train)
        _race(session, choice, train, profile)
        judge_on_others(session, others)
        _check_dropped(session, train)
        _name_allocator(session.findings.kept)
        _measure_reference(session, reference)


def baseline(session: Session, reference: Job) -> None:
    """Measures the baseline allocators alone, for `halo eval baseline`."""
    with session.watching_outputs(reference):
        check_program(session, [reference], place_objects=False)
        _measure(session, reference, session.baselines())


def _recorded(session: Session, train: Job, limits: Limits) -> Profile | None:
    """The profile of the job; None if no engine can record it."""
    try:
        return record(session, train, limits)
    except RecordingFailed:
        return None  # remarked by engine


def _without_recording(session: Session, choice: Choice, train: Job) -> tuple[Choice, Profile]:
    """The plans that need no recording: those that place every small object, of any caller."""
    session.findings.unrecorded = True
    variants = [it for it in choice.variants if strategy_named(it.strategy).at_random]
    session.remark(
        "Nothing was recorded, so only plans that need no recording were tried: they place all"
        " small objects, whatever their caller."
    )
    program = train.target.path
    size, memory = choice.limits.max_object, session.peak_memory[train]
    profile = unrecorded_profile(program, build_id_of(program), memory, size)
    return replace(choice, variants=variants), profile


def field_of(candidates: Sequence[Candidate]) -> Field:
    """The field of a race among candidates, in the order of `make_candidates`."""
    first = candidates[0].allocator
    plans = [one for one in candidates if one.plan is not None]
    labels = {one.variant.label: one.label for one in plans if one.allocator == first}
    return Field(
        controls=[one.label for one in candidates if one.plan is None],
        challengers=list(labels.values()),
        twins={labels[one.variant.label]: one.label for one in plans if one.allocator != first},
        huge_page_users=[one.label for one in plans if one.huge_pages],
    )


def _race(session: Session, choice: Choice, train: Job, profile: Profile) -> None:
    findings, reporter = session.findings, session.reporter
    folder = session.options.results
    with without_collection():
        source = folder / PROFILE
        plans = make_plans(
            profile, choice.variants, folder, reporter.tell, source if source.is_file() else None
        )
    candidates = make_candidates(plans, next_allocators(session))
    findings.candidates = candidates
    configs = {c.label: session.planned(c, c.label) for c in candidates}
    racing = field_of(candidates)
    seconds = median(walls(findings.training[candidates[0].allocator.name]))
    runs = screen_runs(racing)
    what = (
        f"racing {len(plans)} plan{'s' * (len(plans) > 1)}"
        if plans
        else "no plan to race: running the allocators"
    )
    reporter.stage(f"{what} on the training input", runs * seconds)
    done = 0  # runs of the stage

    def run_heat(labels: Sequence[str], heat: Heat) -> Samples:
        nonlocal done
        chosen = [configs[label] for label in labels]
        if not heat.final:
            chosen = [replace(config, needs_cooldown=False) for config in chosen]
        if heat.opens_final or heat.extends_final:
            done = 0
            seconds = heat.runs / len(chosen) * _round_seconds(findings.race, chosen)
            how = "racing the finalists"
            if heat.extends_final:
                how += f" for {heat.rounds} more rounds, as their gain is uncertain"
            reporter.stage(how, seconds, is_extra=heat.extends_final)
        span = Span(done, done + heat.runs)
        found = measure(session, f"race-{heat.number}", train, chosen, Rounds(heat.rounds, 0, span))
        done += len(labels) * heat.rounds
        if not heat.final:
            for label, trials in found.items():
                findings.race.setdefault(label, []).extend(trials)
        return found

    raced = race(run_heat, racing, maximum_rounds(session.options.trials))
    findings.race, findings.final, findings.verdict = raced.screen, raced.final, raced.verdict
    if not raced.final:
        why = "no plan may gain 1 %" if plans else "there is no plan"
        reporter.stage(f"racing the finalists: none, for {why}")


def _round_seconds(known: Samples, configs: Sequence[Configuration]) -> float:
    """Seconds of a round, with the cool-downs; runs without trials take as long as the others."""
    times = {label: median(walls(trials)) for label, trials in known.items() if trials}
    usual = fmean(times.values()) if times else 0.0
    seconds = [times.get(it.label, usual) for it in configs]
    cooled = [times.get(it.label, usual) + COOLDOWN for it in configs if it.needs_cooldown]
    return max(sum(seconds), sum(cooled))


def maximum_rounds(trials: int) -> Callable[[Samples], int]:
    """Gives the maximum number of rounds of the final, from the trials of the screen."""

    def rounds(screen: Samples) -> int:
        known = [median(walls(trials)) for trials in screen.values() if trials]
        one_round = len(screen) * fmean(known)
        return final_rounds(one_round, trials)

    return rounds


def _check_dropped(session: Session, train: Job) -> None:
    """Runs more rounds of the plans that were no finalists, if only these leave a doubt.

    That is if no plan was kept and no finalist changes the time: the program is not
    placement-sensitive only if that holds for every plan.
    """
    findings = session.findings
    changes = plan_changes(findings)
    dropped = {c.label: c.rounds for c in changes if c.rounds < MIN_TRIALS}
    kept = findings.kept
    if kept is None or kept.plan is not None or not dropped or not all_within(changes):
        return
    if any(c.rounds > 2 and c.change.low > 1 + THRESHOLD for c in changes):
        # The answer is certain to be another one; the plans with the most rounds suffice for it.
        most = max(dropped.values())
        dropped = {label: rounds for label, rounds in dropped.items() if rounds == most}
    controls = {c.label for c in findings.candidates if c.plan is None}
    chosen = [c for c in findings.candidates if c.label in dropped or c.label in controls]
    rounds = MIN_TRIALS - min(dropped.values())
    known = {**findings.race, **findings.final}
    configs = [session.planned(c, c.label) for c in chosen]
    seconds = rounds * _round_seconds(known, configs)
    what = "running the other plans: does any change the time?"
    session.reporter.stage(what, seconds, is_extra=True)
    findings.checked = measure(session, "dropped", train, configs, Rounds(rounds, 0))


def _name_allocator(kept: Candidate | None) -> None:
    """Names the next allocator in the kept plan's review, for copies outside of the results."""
    if kept is None or kept.plan is None:
        return
    plan = read_plan(kept.plan)
    if plan.review is not None:
        review = replace(plan.review, allocator=kept.allocator.option)
        write_plan(replace(plan, review=review), kept.plan)


def next_allocators(session: Session) -> list[Allocator]:
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


def _measure(session: Session, job: Job, configs: Sequence[Configuration]) -> None:
    """As many rounds as asked for; else the fewest, and more while the answer is not certain."""
    findings, asked = session.findings, session.options.trials
    seconds = session.native_seconds[job] * sum(_relative(findings, it.label) for it in configs)
    fewest = asked or MIN_TRIALS
    most = asked or max(MIN_TRIALS, min(MAX_OF_REFERENCE, int(REFERENCE_SECONDS / seconds)))
    expected = (fewest + most) // 2
    session.reporter.stage("measuring on the reference input", (1 + expected) * seconds)
    for rounds in [*range(FEW_ROUNDS, fewest), *range(fewest, most + 1)]:
        first = rounds == min(FEW_ROUNDS, fewest)
        span = Span(0 if first else len(configs), (1 + max(expected, rounds)) * len(configs))
        findings.reference = measure(
            session, "reference", job, configs, Rounds(rounds, int(first), span)
        )
        is_certain = _is_certain(session)
        if is_certain and rounds >= fewest:
            return
        expected = fewest if is_certain else (max(fewest, rounds + 1) + most) // 2


def _relative(findings: Findings, label: str) -> float:
    """The time of a configuration of the reference runs over glibc's, on the training input."""
    kept, known = findings.kept, findings.training
    if label == HALO and kept is not None:
        changes = {it.label: it.change.value for it in plan_changes(findings)}
        return changes.get(kept.label, 1.0) * _relative(findings, kept.allocator.name)
    if not known.get(label) or not known.get(findings.native.name):
        return TYPICAL
    return median(walls(known[label])) / median(walls(known[findings.native.name]))


def _is_certain(session: Session) -> bool:
    """Whether more rounds are unlikely to change the answer."""
    findings = session.findings
    if wide_spreads(findings):
        return False
    best, mine = best_baseline(findings), findings.reference.get(HALO)
    if best is None or mine is None:
        return True
    gain = paired_gain(walls(findings.reference[best]), walls(mine))
    interval = gain.interval()
    is_nothing = interval.low > 1 - THRESHOLD and interval.high < 1 + THRESHOLD
    return interval.low > 1 or interval.high < 1 or is_nothing


def final_rounds(seconds: float, trials: int) -> int:
    """The maximum number of rounds of the final, whose rounds take about that long."""
    asked = min(trials, LAST_LOOK)
    fitting = round(FINAL_SECONDS / max(seconds, 0.01))
    return max(asked, min(MAX_OF_FINAL, max(MIN_OF_FINAL, fitting)))
