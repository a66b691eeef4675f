"""`halo study eval compare`, the paper's evaluation of a program: strategies, timed and simulated.

HALO, section 5: every configuration has the same pools over the same next allocator. Configurations
differ only in their groups, and in how the runtime identifies these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from msgspec import Struct, convert, structs

from halo.base.schema.results import (
    Distance,
    Distances,
    MeasuredConfiguration,
    Results,
    Simulations,
)
from halo.base.schema.simulation import CodeMisses, ContextMisses, SimulatedMachine, SimulatedRun
from halo.binary.process.allocators import Allocator
from halo.measure.candidates import NONE, Candidate, PlanVariant
from halo.measure.inputs.recordings import run_recording, with_file
from halo.measure.racing.gains import HALO
from halo.measure.racing.verdict import judge
from halo.measure.results import raw_results
from halo.measure.runs.job import Configuration, Job, digest
from halo.measure.runs.rounds import Samples, walls
from halo.measure.runs.simulated_runs import simulate_config
from halo.measure.session import Session, identities
from halo.measure.stages import Rounds, measure, record
from halo.plan.strategies.planner import Planner
from halo.plan.strategies.planning import make_plan, save_plan
from halo.record.parts import Limits
from halo.record.profile import Profile, read_profile
from halo.record.simulation import code_misses, context_misses, simulation_of

# All are measured in every evaluation; the label is also the name of the plan's file. To add one,
# add a line.
COMPARED = (
    PlanVariant("halo plan", "halo"),
    PlanVariant("halo plan by selectors", "halo", {"identification": "selectors"}),
    PlanVariant("hot-streams plan", "hot-streams"),
    PlanVariant("one-pool plan", "one-pool"),
    PlanVariant("dense plan", "dense"),
    PlanVariant("random-pools plan", "random-pools"),
)
CONTROLS = ("random-pools",)  # strategies that are measured but never kept
# References in the trace for hot data streams, whose sets change little with a longer one.
STREAM_REFERENCES = 10_000_000
QUICK_ROUNDS = 5  # to choose the next allocator


class Owners(Struct):
    """Whose misses they were, as the journal keeps it; `keys` identify the contexts."""

    machine: SimulatedMachine
    contexts: tuple[ContextMisses, ...]
    code: tuple[CodeMisses, ...]
    keys: list[str]


@dataclass(frozen=True)
class Comparison:
    """A program on two inputs; `distances` are in bytes; without any there is no figure 12."""

    train: Job
    reference: Job
    simulate: bool = True
    distances: Sequence[int] = ()


def compare(session: Session, comparison: Comparison) -> Results:
    """Runs all stages; returns the document for results.json."""
    findings, trials = session.findings, session.options.trials
    plain = session.baselines()
    quick = _samples(session, "allocators", comparison.train, plain, QUICK_ROUNDS)
    findings.training = quick
    running = [allocator for allocator in session.allocators if allocator.name in quick]
    chosen = min(running, key=lambda a: median(walls(quick[a.name])))
    profile = record(
        session, comparison.train, Limits(), Limits(sinks={"streams": STREAM_REFERENCES})
    )
    candidates = _candidates(session, profile, chosen)
    planned = [session.planned(c, c.variant.label) for c in candidates]
    configs = [*plain, *planned]
    compared = [_required(one, chosen) for one in plain]
    training = _samples(session, "training", comparison.train, [*compared, *planned], trials)
    _keep(session, training, candidates, Candidate(PlanVariant(NONE, NONE), chosen, None))
    simulation = None
    if comparison.simulate:
        simulation = _simulate(session, comparison.train, profile, configs)
    reference = _samples(session, "reference", comparison.reference, configs, trials)
    kept = findings.kept
    assert kept is not None
    of_kept = reference.get(chosen.name if kept.plan is None else kept.variant.label)
    findings.reference = reference if of_kept is None else {**reference, HALO: of_kept}
    distances = None
    if comparison.distances and chosen.name in reference:
        distances = _distances(session, comparison, chosen)
    return structs.replace(
        raw_results(findings),
        configurations=_described(session, candidates),
        training=training,
        simulation=simulation,
        distances=distances,
    )


def _required(config: Configuration, chosen: Allocator) -> Configuration:
    """The configuration, which must run the program if it is that of the chosen allocator."""
    return replace(config, optional=config.optional and config.label != chosen.name)


def _samples(
    session: Session, name: str, job: Job, configs: Sequence[Configuration], trials: int
) -> Samples:
    session.reporter.stage(f"timing {len(configs)} configurations: {name}")
    return measure(session, name, job, configs, Rounds(trials))


def _candidates(session: Session, profile: Profile, allocator: Allocator) -> list[Candidate]:
    """The compared strategies with groups in this program."""
    found = []
    planner = Planner(profile)
    for variant in COMPARED:
        plan = planner.plan(variant.strategy, variant.options)
        if plan.is_inert:
            continue
        name = variant.label.replace(" plan", "").replace(" ", "-")
        path = session.options.results / f"{name}.plan"
        save_plan(plan, path)
        huge = any(group.huge_pages for group in plan.groups)
        found.append(Candidate(variant, allocator, path, huge))
    return found


def _keep(
    session: Session, training: Samples, candidates: Sequence[Candidate], none: Candidate
) -> None:
    """The candidate that `halo run` would keep, by the same rule on the training input."""
    controls = {variant.label for variant in COMPARED if variant.strategy in CONTROLS}
    running = [none, *(c for c in candidates if c.variant.label not in controls)]
    samples = {
        c.label: training[none.allocator.name if c.plan is None else c.variant.label]
        for c in running
    }
    session.findings.candidates = running
    session.findings.race = samples
    session.findings.verdict = judge(samples, [none.label])


def _simulate(
    session: Session, job: Job, profile: Profile, configs: Sequence[Configuration]
) -> Simulations:
    found = {}
    for config in configs:
        session.reporter.stage(f"simulating the training run: {config.label}")
        run = session.journal.stage(
            f"simulated-{config.label.replace(' ', '-')}",
            session.recorder_inputs(job, config=identities([config])),
            partial(simulate_config, session.settings, job, config.environment, session.scratch),
        )
        found[config.label] = convert(run, SimulatedRun)
    session.reporter.stage("simulating the training run: its allocation contexts")
    owners = convert(
        session.journal.stage(
            "simulated-owners",
            session.recorder_inputs(job),
            partial(_simulated_owners, session, job),
        ),
        Owners,
    )
    ids = {profile.stack_key(at): at for at in range(len(profile.contexts))}
    return Simulations(
        input="training",
        configurations=found,
        machine=owners.machine,
        code=owners.code,
        contexts=tuple(
            structs.replace(it, context=ids[key])
            for it, key in zip(owners.contexts, owners.keys, strict=True)
            if key in ids
        ),
    )


def _simulated_owners(session: Session, job: Job) -> Owners:
    """Misses by context, from a separate recording, whose context ids may differ."""
    path = session.scratch / "simulated.profile"
    run_recording(session, job, Limits(sinks={"machine": "this"}), path)
    profile = read_profile(path)
    contexts = context_misses(profile)
    return Owners(
        simulation_of(profile).machine,
        contexts,
        code_misses(profile),
        [profile.stack_key(it.context) for it in contexts],
    )


def _distances(session: Session, comparison: Comparison, allocator: Allocator) -> Distances:
    """The strategy `halo` on recordings at several affinity distances (figure 12)."""
    points = {}
    for distance in comparison.distances:
        session.reporter.stage(f"recording at an affinity distance of {distance}")
        name = f"distance-{distance}"
        path = session.options.results / f"{name}.plan"
        make = partial(_plan_at, session, comparison.train, distance, path)
        found = with_file(session, name, comparison.train, {"distance": distance}, path, make)
        variant = PlanVariant(f"distance {distance}", "halo")
        candidate = Candidate(variant, allocator, path, found["huge_pages"])
        points[distance] = session.planned(candidate, variant.label)
    plain = next(config for config in session.baselines() if config.label == allocator.name)
    configs = [plain, *points.values()]
    trials = session.options.trials
    samples = _samples(session, "distances", comparison.reference, configs, trials)
    return Distances(
        strategy="halo",
        allocator=allocator.name,
        baseline=samples[plain.label],
        points=tuple(Distance(at, samples[config.label]) for at, config in points.items()),
    )


def _plan_at(session: Session, job: Job, distance: int, path: Path) -> dict[str, Any]:
    profile = path.with_suffix(".profile")
    run_recording(session, job, Limits(sinks={"distance": distance}), profile)
    plan = make_plan(read_profile(profile), "halo", {})
    profile.unlink()
    save_plan(plan, path)
    huge = any(group.huge_pages for group in plan.groups)
    return {"file": digest(path), "huge_pages": huge}


def _described(
    session: Session, candidates: Sequence[Candidate]
) -> dict[str, MeasuredConfiguration]:
    """What each label stands for."""
    plain = {a.name: MeasuredConfiguration(NONE, NONE, a.name) for a in session.allocators}
    return plain | {
        c.variant.label: MeasuredConfiguration(
            strategy=c.variant.strategy,
            candidate=c.variant.label,
            allocator=c.allocator.name,
            identification=_identification(c.variant),
            plan=c.plan.name if c.plan else None,
        )
        for c in candidates
    }


def _identification(variant: PlanVariant) -> str:
    """How the plan of a variant identifies groups: by walks or by selectors."""
    if variant.strategy in CONTROLS:
        return "random"
    return variant.options.get("identification", "walk")
