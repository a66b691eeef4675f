"""A program on clean and on aged heaps: allocators and plans over occupancies, interleaved.

Littering, "Results": each contender's time, on a heap that is clean and on heaps of which some
fraction is occupied; against the program's own allocator, where a build with one is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from halo.aging import Litter
from halo.allocators import Allocator, preload, under_plan
from halo.errors import LitterFailed
from halo.plan import read_plan
from halo.profile.simulation import machine_json
from halo.recording import workspace
from halo.settings import Settings
from halo.simulation import misses_json
from halo.target import Target
from halo.trials.ageing import clean
from halo.trials.findings import Findings
from halo.trials.inside import Split, allocator_objects, find_perf, read_split
from halo.trials.job import Contender, Job
from halo.trials.laboratory import Laboratory
from halo.trials.launcher import Launcher
from halo.trials.reporter import Reporter
from halo.trials.results import raw_results, raw_trials
from halo.trials.rounds import Samples, interleave

CUSTOM = "custom"
GROUPS_TOO = " (groups aged)"


@dataclass(frozen=True)
class AgedOptions:
    """What the user can set; `litter` says all but the occupancy, which `occupancies` do."""

    trials: int
    results: Path
    environment: Mapping[str, str]
    occupancies: Sequence[float]
    litter: Litter
    allocators: Sequence[Allocator]
    plans: Sequence[Path] = ()
    under: Sequence[Allocator] = ()  # next allocators of the plans
    custom: Target | None = None
    cpu: int | None = None
    split: bool = True


@dataclass(frozen=True)
class Entrant:
    """A contender at no occupancy yet; `grouped` litters the groups of its plan, too."""

    contender: Contender
    allocator: Allocator
    plan: Path | None = None
    grouped: bool = False

    def described(self) -> dict[str, Any]:
        """For results.json."""
        kind = CUSTOM if self.contender.program else "plan" if self.plan else "allocator"
        return {
            "kind": kind,
            "allocator": self.allocator.name,
            "plan": self.plan.name if self.plan else None,
            "groups": self.grouped,
            "program": self.contender.program.path.name if self.contender.program else None,
        }


class AgedStudy:
    """The measurement over one laboratory."""

    def __init__(
        self,
        settings: Settings,
        options: AgedOptions,
        findings: Findings,
        job: Job,
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._options = options
        self._findings = findings
        self._job = job
        self._reporter = reporter
        self._entrants = self._make_entrants()
        self._stack = ExitStack()

    def __enter__(self) -> AgedStudy:
        scratch = self._stack.enter_context(workspace())
        launcher = self._stack.enter_context(Launcher(self._options.cpu))
        self._laboratory = Laboratory(self._settings, launcher, scratch, self._options.results)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self) -> dict[str, Any]:
        """Measures, and returns the document for results.json, its splits still empty."""
        entrants, at = self._entrants, self._at_levels()
        every = [contender for contenders in at.values() for contender in contenders]
        self._reporter.stage(f"measuring {len(every)} contenders on clean and aged heaps")
        samples = interleave(
            self._laboratory, self._job, every, self._options.trials, self._reporter.notice
        )
        levels = [
            {
                "occupancy": occupancy,
                "trials": raw_trials(_of_level(samples, occupancy, contenders)),
                "split": {},
            }
            for occupancy, contenders in at.items()
        ]
        self._findings.reference = _of_level(samples, None, at[None])
        document = raw_results(self._findings)
        document["summary"]["warnings"] += _idle(samples)
        litter = self._options.litter
        document["aged"] = {
            "multiplier": litter.multiplier,
            "shuffle": litter.shuffle,
            "seed": litter.seed,
            "contenders": {e.contender.label: e.described() for e in entrants},
            "levels": levels,
        }
        return document

    def _at_levels(self) -> dict[float | None, list[Contender]]:
        """By occupancy, None for the clean heap, whoever runs there."""
        return {
            occupancy: [
                self._at(entrant, occupancy)
                for entrant in self._entrants
                if occupancy is not None or not entrant.grouped
            ]
            for occupancy in (None, *self._options.occupancies)
        }

    def _make_entrants(self) -> list[Entrant]:
        options = self._options
        found = []
        for allocator in options.allocators:
            environment = preload(options.environment, [allocator.library])
            found.append(Entrant(Contender(allocator.name, environment), allocator))
        if options.custom is not None:
            glibc = Allocator("glibc", None)
            contender = Contender(CUSTOM, dict(options.environment), program=options.custom)
            found.append(Entrant(contender, glibc))
        for plan in options.plans:
            hungry = any(group.huge_pages for group in read_plan(plan).groups)
            for allocator in options.under:
                environment = under_plan(
                    options.environment, self._settings.runtime, plan, allocator
                )
                label = f"{plan.stem} over {allocator.name}"
                contender = Contender(label, environment, reports=True, settles=hungry)
                found.append(Entrant(contender, allocator, plan))
                if options.litter.groups:
                    also = replace(contender, label=label + GROUPS_TOO)
                    found.append(Entrant(also, allocator, plan, grouped=True))
        return found

    def _at(self, entrant: Entrant, occupancy: float | None) -> Contender:
        litter = (
            clean()
            if occupancy is None
            else replace(self._options.litter, occupancy=occupancy, groups=entrant.grouped)
        )
        label = _label(entrant.contender.label, occupancy)
        return replace(entrant.contender, label=label, litter=litter)

    def sample(self, document: dict[str, Any]) -> None:
        """Adds to each level the part of the time inside the allocator, of one more run each.

        Nothing where there is no perf that may sample; no part where a run could not be sampled.
        """
        perf = find_perf() if self._options.split else None
        if perf is None:
            return
        self._reporter.stage("sampling where the time goes")
        for level in document["aged"]["levels"]:
            for entrant in self._entrants:
                label = entrant.contender.label
                if label in level["trials"]:
                    split = self._split(perf, entrant, self._at(entrant, level["occupancy"]))
                    if split is not None:
                        level["split"][label] = asdict(split)

    def simulate(self, document: dict[str, Any]) -> None:
        """Adds to each level what each contender misses from where the program begins on."""
        aged = document["aged"]
        for level in aged["levels"]:
            name = "clean" if level["occupancy"] is None else level["occupancy"]
            for entrant in self._entrants:
                label = entrant.contender.label
                if label in level["trials"]:
                    self._reporter.stage(f"simulating {label}, {name}")
                    contender = self._at(entrant, level["occupancy"])
                    profile = self._laboratory.simulate(self._job, contender)
                    assert profile.simulation is not None
                    aged["machine"] = machine_json(profile.simulation.machine)
                    level.setdefault("simulated", {})[label] = misses_json(profile)

    def _split(self, perf: str, entrant: Entrant, contender: Contender) -> Split | None:
        objects = allocator_objects(contender.environment, entrant.allocator.library)
        try:
            data, start = self._laboratory.sample(perf, self._job, contender)
        except LitterFailed:
            return None
        return read_split(perf, data, start, objects)


def _idle(samples: Samples) -> list[str]:
    """A sentence for each contender whose plan had no effect."""
    found = []
    for label, trials in samples.items():
        idle = next((t.runtime for t in trials if t.runtime and not t.runtime.get("active")), None)
        if idle is not None:
            found.append(f"The runtime was not active under {label}: {idle.get('reason')}.")
    return found


def _label(label: str, occupancy: float | None) -> str:
    """Of a contender among all, unlike that of any other."""
    return f"{label} @ {'clean' if occupancy is None else repr(occupancy)}"


def _of_level(
    samples: Samples, occupancy: float | None, contenders: Sequence[Contender]
) -> Samples:
    """The samples of these contenders, by the labels that they have at no occupancy."""
    ending = len(_label("", occupancy))
    return {c.label[:-ending]: samples[c.label] for c in contenders}
