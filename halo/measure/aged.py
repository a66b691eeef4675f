"""Measures a program on clean and on aged heaps: allocators and plans over occupancies.

The method is that of Littering, "Results": each configuration's time on a clean heap and at several
occupancies, interleaved, compared with the program's own allocator if a build with one is given.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from halo.base.errors import LitterFailed
from halo.base.schema.aged import Aged, AgedConfiguration, AgedLevel, AllocatorKind, Split
from halo.base.schema.results import Results
from halo.base.schema.simulation import SimulatedMachine, SimulatedRun
from halo.binary.process.allocators import GLIBC, Allocator, alone
from halo.binary.process.target import Target
from halo.measure.aging import Litter
from halo.measure.results import raw_results
from halo.measure.runs.allocator_share import allocator_objects, find_perf, read_split
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.litter import clean
from halo.measure.runs.rounds import Samples
from halo.measure.session import Session, identities
from halo.measure.stages import Rounds, measure
from halo.plan import read_plan
from halo.plan.runtimes import under_plan
from halo.record.simulation import run_misses, simulation_of

CUSTOM = "custom"
GROUPS_TOO = " (groups aged)"


@dataclasses.dataclass(frozen=True)
class Aging:
    """The measurement's parameters; `litter` has all settings except the occupancy."""

    job: Job
    occupancies: Sequence[float]
    litter: Litter
    plans: Sequence[Path] = ()
    under: Sequence[Allocator] = ()  # next allocators of the plans
    custom: Target | None = None
    split: bool = True  # sample how much of the time the allocator takes
    simulate: bool = False


@dataclasses.dataclass(frozen=True)
class AgedEntry:
    """A configuration without an occupancy; `grouped` litters the groups of its plan, too."""

    config: Configuration
    allocator: Allocator
    plan: Path | None = None
    grouped: bool = False

    def described(self) -> AgedConfiguration:
        """The JSON object for results.json."""
        program = self.config.program
        kind = (
            AllocatorKind.CUSTOM
            if program
            else AllocatorKind.PLAN
            if self.plan
            else AllocatorKind.ALLOCATOR
        )
        return AgedConfiguration(
            kind=kind,
            allocator=self.allocator.name,
            plan=self.plan.name if self.plan else None,
            groups=self.grouped,
            program=program.path.name if program else None,
        )


def measure_aged(session: Session, aging: Aging) -> Iterator[Results]:
    """Yields the results with all times, and again after each run that adds more to them."""
    results = _times(session, aging)
    yield results
    if aging.split:
        for sampled in _with_splits(session, aging, results):
            results = sampled
            yield results
    if aging.simulate:
        yield from _with_simulations(session, aging, results)


def _times(session: Session, aging: Aging) -> Results:
    entries = _entries(session, aging)
    at = _at_levels(aging, entries)
    every = [config for configs in at.values() for config in configs]
    session.reporter.stage(f"measuring {len(every)} configurations on clean and aged heaps")
    trials = measure(session, "aged", aging.job, every, Rounds(session.options.trials))
    session.findings.reference = _of_level(trials, None, at[None])
    results = raw_results(session.findings)
    warnings = (*results.summary.warnings, *_idle(trials))
    aged = Aged(
        multiplier=aging.litter.multiplier,
        shuffle=aging.litter.shuffle,
        seed=aging.litter.seed,
        configurations={e.config.label: e.described() for e in entries},
        levels=tuple(
            AgedLevel(occupancy, _of_level(trials, occupancy, configs))
            for occupancy, configs in at.items()
        ),
    )
    return replace(results, summary=replace(results.summary, warnings=warnings), aged=aged)


def _with_splits(session: Session, aging: Aging, results: Results) -> Iterator[Results]:
    """Adds to each level the part of the time inside the allocator, of one more run each.

    Adds nothing if perf is missing or may not sample; leaves out runs without samples.
    """
    perf = find_perf()
    if perf is None:
        return
    session.reporter.stage("sampling where the time goes")
    for at, entry, config in _measured(session, aging, results):

        def sample(entry: AgedEntry = entry, config: Configuration = config) -> Any:
            split = _split(session, perf, aging.job, entry, config)
            return None if split is None else {"split": split}

        inputs = session.inputs.of(aging.job)
        found = _stage(session, f"split-{config.label}", inputs, config, sample)
        if found is not None:
            split = convert(found["split"], Split)
            before = _level(results, at).split
            results = _changed(results, at, split={**before, entry.config.label: split})
            yield results


def _with_simulations(session: Session, aging: Aging, results: Results) -> Iterator[Results]:
    """Adds to each level the misses of each configuration, from where the program begins."""
    for at, entry, config in _measured(session, aging, results):
        session.reporter.stage(f"simulating {config.label}")

        def simulate(config: Configuration = config) -> dict[str, Any]:
            profile = session.runner.simulate(aging.job, config)
            return {"machine": simulation_of(profile).machine, "misses": run_misses(profile)}

        inputs = session.recorder_inputs(aging.job)
        found = _stage(session, f"simulated-{config.label}", inputs, config, simulate)
        run = convert(found["misses"], SimulatedRun)
        before = _level(results, at).runs
        results = _changed(results, at, simulated={**before, entry.config.label: run})
        machine = convert(found["machine"], SimulatedMachine)
        results = replace(results, aged=replace(_aged(results), machine=machine))
        yield results


def _measured(
    session: Session, aging: Aging, results: Results
) -> Iterator[tuple[int, AgedEntry, Configuration]]:
    """The number of every level with each entry that was measured there."""
    for at, level in enumerate(_aged(results).levels):
        for entry in _entries(session, aging):
            if entry.config.label in level.trials:
                yield at, entry, _at(aging, entry, level.occupancy)


def _changed(results: Results, at: int, **changes: Any) -> Results:
    """With other values in one level."""
    aged = _aged(results)
    levels = list(aged.levels)
    levels[at] = replace(levels[at], **changes)
    return replace(results, aged=replace(aged, levels=tuple(levels)))


def _level(results: Results, at: int) -> AgedLevel:
    return _aged(results).levels[at]


def _aged(results: Results) -> Aged:
    assert results.aged is not None
    return results.aged


def _stage(
    session: Session,
    name: str,
    inputs: dict[str, Any],
    config: Configuration,
    compute: Callable[[], Any],
) -> Any:
    file = re.sub(r"[^\w.-]+", "-", name)
    return session.journal.stage(file, {**inputs, "config": identities([config])}, compute)


def _at_levels(
    aging: Aging, entries: Sequence[AgedEntry]
) -> dict[float | None, list[Configuration]]:
    """The configurations by occupancy; None is the clean heap."""
    return {
        occupancy: [
            _at(aging, entry, occupancy)
            for entry in entries
            if occupancy is not None or not entry.grouped
        ]
        for occupancy in (None, *aging.occupancies)
    }


def _entries(session: Session, aging: Aging) -> list[AgedEntry]:
    options = session.options
    found = []
    for allocator in session.allocators:
        environment = alone(options.environment, allocator)
        found.append(AgedEntry(Configuration(allocator.name, environment), allocator))
    if aging.custom is not None:
        glibc = Allocator(GLIBC, None)
        config = Configuration(CUSTOM, dict(options.environment), program=aging.custom)
        found.append(AgedEntry(config, glibc))
    for plan in aging.plans:
        huge_page_users = any(group.huge_pages for group in read_plan(plan).groups)
        for allocator in aging.under:
            environment = under_plan(options.environment, session.settings.runtime, plan, allocator)
            label = f"{plan.stem} over {allocator.name}"
            config = Configuration(label, environment, reports=True, needs_cooldown=huge_page_users)
            found.append(AgedEntry(config, allocator, plan))
            if aging.litter.groups:
                also = dataclasses.replace(config, label=label + GROUPS_TOO)
                found.append(AgedEntry(also, allocator, plan, grouped=True))
    return found


def _at(aging: Aging, entry: AgedEntry, occupancy: float | None) -> Configuration:
    litter = (
        clean()
        if occupancy is None
        else dataclasses.replace(aging.litter, occupancy=occupancy, groups=entry.grouped)
    )
    label = _label(entry.config.label, occupancy)
    return dataclasses.replace(entry.config, label=label, litter=litter)


def _split(
    session: Session, perf: str, job: Job, entry: AgedEntry, config: Configuration
) -> Split | None:
    objects = allocator_objects(config.environment, entry.allocator.library)
    try:
        data, start = session.runner.sample(perf, job, config)
    except LitterFailed:
        return None
    return read_split(perf, data, start, objects)


def _idle(samples: Samples) -> list[str]:
    """A sentence for each configuration whose plan had no effect."""
    found = []
    for label, trials in samples.items():
        idle = next((t.runtime for t in trials if t.runtime and not t.runtime.get("active")), None)
        if idle is not None:
            found.append(f"The runtime was not active under {label}: {idle.get('reason')}.")
    return found


def _label(label: str, occupancy: float | None) -> str:
    """The unique label of a configuration at an occupancy."""
    return f"{label} @ {'clean' if occupancy is None else repr(occupancy)}"


def _of_level(
    samples: Samples, occupancy: float | None, configs: Sequence[Configuration]
) -> Samples:
    """The samples of these configurations, by their labels without the occupancy."""
    ending = len(_label("", occupancy))
    return {c.label[:-ending]: samples[c.label] for c in configs}
