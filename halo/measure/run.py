"""`halo run`: time the allocators, record, race the candidate plans, measure the kept one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import fmean, median

from halo.base.errors import RecordingFailed
from halo.binary.elf import build_id_of
from halo.binary.process.allocators import Allocator
from halo.binary.process.target import check_privileges
from halo.measure.candidates import Candidate, make_candidates, make_plans
from halo.measure.deep.choice import Choice, examine, told, worth_trying
from halo.measure.findings import Findings
from halo.measure.inputs.allocator_settings import doubtful, ranked, time_settings
from halo.measure.inputs.roles import Inputs
from halo.measure.inputs.training_inputs import judge_on_others, record_inputs
from halo.measure.inputs.unrecorded import TYPICAL, check_and_time, check_program
from halo.measure.placement import is_open, plan_changes
from halo.measure.racing.field import Arms
from halo.measure.racing.gains import HALO, Objective, near_fastest, peak_memory
from halo.measure.racing.heats import Heat
from halo.measure.racing.race import Raced, pace_for, race, screen_runs
from halo.measure.racing.sequential import EARLY_LOOK, FIRST_LOOK, LOOKS
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.machine import cooldown
from halo.measure.runs.rounds import Samples, Span, walls
from halo.measure.session import Session, identities
from halo.measure.stages import PROFILE, Rounds, measure, native_seconds, record
from halo.plan import read_plan, write_plan
from halo.record.parts import Limits
from halo.record.profile import Profile, unrecorded_profile
from halo.record.profile.collection import without_collection
from halo.record.registry import find_producer

NEAR = 1.03  # maximum time, over the best's, of next allocators in the race
MUCH = 0.9  # time of a plan or a setting, over that of its allocator, that gains much
LONG = 20.0  # seconds of FIRST_LOOK rounds, from which an answer has an early look
DOUBTFUL = 2  # settings in doubt that take part in the race
STAGES = 5  # six with further inputs, which are recorded before the allocators run


def run(session: Session, choice: Choice, inputs: Inputs) -> None:
    """Runs all stages; a difference in output ends them, with the findings so far."""
    measured = inputs.measured
    check_privileges(measured.target)
    find_producer(session.settings)
    with session.watching_outputs(inputs.answered):
        check_and_time(session, inputs)
        time_settings(session, measured)
        session.enough_recording = session.budget(measured).recording
        profile = _recorded(session, inputs, choice.limits)
        if profile is None:
            choice, profile = _without_recording(session, choice, measured)
        _race(session, choice, measured, profile)
        judge_on_others(session, inputs.others)
        _name_allocator(session.findings.kept)
        _answer(session, inputs.answered)


def baseline(session: Session, reference: Job) -> None:
    """Measures the baseline allocators alone, for `halo study eval baseline`."""
    with session.watching_outputs(reference):
        check_program(session, [reference], place_objects=False)
        _measure(session, reference, session.baselines())


def _recorded(session: Session, inputs: Inputs, limits: Limits) -> Profile | None:
    """The profile of the recorded inputs; None if no engine can record one."""
    if not session.options.effort.records:
        return None
    if len(inputs.recorded) > 1:
        return record_inputs(session, inputs.recorded, limits)
    try:
        return record(session, inputs.recorded[0], limits)
    except RecordingFailed:
        return None  # remarked by engine


def _without_recording(session: Session, choice: Choice, train: Job) -> tuple[Choice, Profile]:
    """The plans that need no recording: those that place every small object, of any caller."""
    session.findings.unrecorded = True
    if session.options.effort.records:
        session.remark(
            "Nothing was recorded, so only plans that need no recording were tried: they place all"
            " small objects, whatever their caller."
        )
    program = train.target.path
    size, memory = choice.limits.max_object, session.peak_memory[train]
    profile = unrecorded_profile(program, build_id_of(program), memory, size)
    return choice.without_recording(), profile


def field_of(candidates: Sequence[Candidate]) -> Arms:
    """The field of a race among candidates, in the order of `make_candidates`."""
    first = candidates[0].allocator
    plans = [one for one in candidates if one.plan is not None]
    labels = {one.variant.label: one.label for one in plans if one.allocator == first}
    return Arms(
        controls=[one.label for one in candidates if one.plan is None],
        challengers=list(labels.values()),
        twins={labels[one.variant.label]: one.label for one in plans if one.allocator != first},
        # Over an allocator with huge pages, all candidates have cool-downs, and none is special.
        huge_page_users=[
            it.label for it in plans if it.huge_pages and cooldown() and not first.has_huge_pages
        ],
    )


def _race(session: Session, choice: Choice, job: Job, profile: Profile) -> None:
    findings, reporter = session.findings, session.reporter
    folder = session.options.results
    with without_collection():
        source = folder / PROFILE
        examined = examine(choice, profile)
        scale = session.peak_memory[job]
        variants = [it.at_scale(scale) for it in worth_trying(choice, examined)]
        plans = make_plans(profile, variants, folder, source if source.is_file() else None)
    findings.analyses = [it.outcome(variant for variant, _, _ in plans) for it in examined]
    for tried in findings.analyses:
        reporter.tell(told(tried))
    candidates = make_candidates(plans, next_allocators(session))
    findings.candidates = candidates
    configs = {c.label: session.planned(c, c.label) for c in candidates}
    racing = field_of(candidates)
    seconds = median(walls(findings.trials_of(candidates[0].allocator.name)))
    cooled = fmean(it.needs_cooldown for it in configs.values())
    share = seconds / (seconds + cooled * cooldown())
    in_slices = session.in_slices(job, list(configs.values()))
    pace = pace_for(session.budget(job).race_runs(seconds), racing, share, in_slices)
    runs = screen_runs(racing, pace)
    what = (
        f"racing {len(plans)} plan{'s' * (len(plans) > 1)}"
        if plans
        else "no plan to race: running the allocators"
    )
    reporter.stage(what, runs * seconds)
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
        found = measure(session, f"race-{heat.number}", job, chosen, Rounds(heat.rounds, 0, span))
        done += len(labels) * heat.rounds
        if not heat.final:
            for label, trials in found.items():
                findings.race.setdefault(label, []).extend(trials)
        return found

    raced = race(run_heat, racing, pace)
    findings.race, findings.final, findings.verdict = raced.screen, raced.final, raced.verdict
    if findings.objective is Objective.MEMORY:
        findings.verdict = replace(raced.verdict, kept=_lowest_memory(raced))
    if not raced.final:
        why = "no plan may gain 1 %" if plans else "there is no plan"
        if findings.has_plan:
            why = "there is no time for them, and the answer decides"
        reporter.stage(f"racing the finalists: none, for {why}")


def _lowest_memory(raced: Raced) -> str:
    """The candidate with the least peak memory of those that are nearly the fastest."""
    enough = min(2, max(map(len, raced.screen.values())))
    known = {label: trials for label, trials in raced.screen.items() if len(trials) >= enough}
    near = near_fastest(known, list(known))
    return min(near, key=lambda label: peak_memory(known[label]))


def _round_seconds(known: Samples, configs: Sequence[Configuration]) -> float:
    """Seconds of a round, with the cool-downs; runs without trials take as long as the others."""
    times = {label: median(walls(trials)) for label, trials in known.items() if trials}
    usual = fmean(times.values()) if times else 0.0
    return _with_cooldowns([times.get(it.label, usual) for it in configs], configs)


def _with_cooldowns(times: Sequence[float], configs: Sequence[Configuration]) -> float:
    """Seconds of a round of runs that take so long, with their cool-downs."""
    pause = cooldown()
    cooled = [time + pause for time, it in zip(times, configs, strict=True) if it.needs_cooldown]
    return max(sum(times), sum(cooled))


def _name_allocator(kept: Candidate | None) -> None:
    """Names the next allocator in the kept plan's review, for copies outside of the results."""
    if kept is None or kept.plan is None:
        return
    plan = read_plan(kept.plan)
    if plan.review is not None:
        review = replace(plan.review, allocator=kept.allocator.option)
        write_plan(replace(plan, review=review), kept.plan)


def next_allocators(session: Session) -> list[Allocator]:
    """The best allocators, with their settings, the fastest first; then settings in doubt."""
    found = ranked(session)
    best = found[0][1]
    return [it for it, time in found if time <= NEAR * best] + doubtful(session)[:DOUBTFUL]


def _answer(session: Session, job: Job) -> None:
    """Measures what may be told to use, in rounds of its own.

    These are the program's own allocator, the best one, also with its best setting, and the kept
    plan, also without it; on an input that no decision has seen, all allocators. Beside a plan or a
    setting that gained much in time slices, the best allocator has no rounds without its setting.
    """
    kept = session.findings.kept
    assert kept is not None
    found = ranked(session)
    best, times = found[0][0], {it.name: time for it, time in found}
    plain = next(it for it, _ in found if it.setting is None)
    chosen = [session.allocators[0], plain, best, kept.allocator]
    change = min(_change_of(session.findings, kept), times[best.name] / times[plain.name])
    if change < MUCH and session.in_slices(job, [session.alone(it) for it in chosen]):
        chosen.remove(plain)
    configs = {it.name: session.alone(it) for it in chosen}
    if session.holds_out:
        configs = {it.label: it for it in session.baselines()} | configs
    if kept.plan is not None:
        configs[HALO] = session.planned(kept, HALO)
    _measure(session, job, list(configs.values()))
    own = session.findings.reference.get(kept.allocator.name)
    if kept.plan is None and own is not None:
        # `none` equals the allocator's own configuration: a second series would measure only noise.
        session.findings.reference[HALO] = own


def _measure(session: Session, job: Job, configs: Sequence[Configuration]) -> None:
    """As many rounds as asked for; else the fewest, and more while the answer is open."""
    findings, asked = session.findings, session.options.trials
    native = native_seconds(session, job)
    times = [native * _relative(findings, it.label) for it in configs]
    cooled = [
        time + cooldown() for time, it in zip(times, configs, strict=True) if it.needs_cooldown
    ]
    seconds = max(sum(times), sum(cooled))
    warm_up = int(session.timed != job)  # else it has run many times already
    looks_early = FIRST_LOOK * seconds >= LONG and findings.objective is Objective.TIME
    fewest = asked or (EARLY_LOOK if looks_early else FIRST_LOOK)
    begin = session.reporter.elapsed
    session.reporter.stage("measuring for the answer", (warm_up + fewest) * seconds)

    def run_to(rounds: int) -> None:
        first, warm = rounds == fewest, warm_up * len(configs)
        span = Span(0 if first else warm, warm + rounds * len(configs))
        series = Rounds(rounds, warm_up * first, span)
        findings.reference = measure(session, "reference", job, configs, series)

    run_to(fewest)
    if asked or not is_open(findings):
        return
    pace = max(seconds, (session.reporter.elapsed - begin) / (warm_up + fewest))
    most = _max_rounds(session, job, configs, begin, pace)
    for rounds in (look for look in LOOKS if fewest < look <= most):
        run_to(rounds)
        if not is_open(findings):
            return


def _max_rounds(
    session: Session, job: Job, configs: Sequence[Configuration], begin: float, pace: float
) -> int:
    """Of an answer that began at `begin`, in rounds that take `pace` seconds.

    A measurement that is continued has those that it had at first. Of a long program, too, there is
    time for the look after FIRST_LOOK: the first ones tell great gains only.
    """
    inputs = {
        "configurations": identities(configs),
        "effort": asdict(session.options.effort),
    }

    def compute() -> int:
        return max(LOOKS[1], int(session.budget(job).answer(begin) / pace))

    most = session.journal.stage("answer-rounds", inputs, compute)
    assert isinstance(most, int)
    return most


def _change_of(findings: Findings, kept: Candidate) -> float:
    """The time of the kept plan over that of its allocator alone, in the race; 1 without one."""
    return {it.label: it.times for it in plan_changes(findings)}.get(kept.label, 1.0)


def _relative(findings: Findings, label: str) -> float:
    """The time of a configuration over that of the program's own allocator, where both ran."""
    kept, native = findings.kept, findings.native.name
    if label == HALO and kept is not None:
        return _change_of(findings, kept) * _relative(findings, kept.allocator.name)
    known = findings.trials_of(label)
    if not known or not findings.training.get(native):
        return TYPICAL
    return median(walls(known)) / median(walls(findings.training[native]))
