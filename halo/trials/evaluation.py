"""The paper's evaluation of one program: strategies against each other, timed and simulated.

HALO, section 5: every contender serves from the same groups' allocator over the same next
allocator; only what is grouped, and how it is identified, differs.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from halo.allocators import Allocator, four_allocators, preload
from halo.errors import RecordingFailed, TrialFailed
from halo.planning import make_plan, merge_recording, save_plan
from halo.producers.registry import find_producer
from halo.profile import Profile, read_profile
from halo.recording import Limits, workspace
from halo.settings import Settings
from halo.simulation import plain_run_json
from halo.trials.candidates import NONE, Candidate, Recipe
from halo.trials.findings import HALO, Findings, RecordCost
from halo.trials.job import Contender, Job, Output, Sample
from halo.trials.journal import Journal
from halo.trials.laboratory import Laboratory, digest
from halo.trials.launcher import Launcher
from halo.trials.race import judge
from halo.trials.reporter import Reporter
from halo.trials.results import raw_results, raw_trials
from halo.trials.rounds import Samples, Step, walls
from halo.trials.simulating import run_recorder, simulate_contender

# Against each other in every evaluation; the label is also the name of the plan's file. To add
# one, add a line.
COMPARED = (
    Recipe("halo plan", "halo"),
    Recipe("halo plan by selectors", "halo", {"identification": "selectors"}),
    Recipe("hot-streams plan", "hot-streams"),
    Recipe("one-pool plan", "one-pool"),
    Recipe("dense plan", "dense"),
    Recipe("random-pools plan", "random-pools"),
)
CONTROLS = ("random-pools",)  # strategies that are measured but never kept
# References of the trace that hot data streams are found in: their sets change little after that.
STREAM_REFERENCES = 10_000_000
QUICK_ROUNDS = 5  # that find the next allocator


@dataclass(frozen=True)
class EvaluationOptions:
    """What the user can set; `distances` in bytes, none: figure 12 is not measured."""

    trials: int
    results: Path
    environment: Mapping[str, str]
    cpu: int | None = None
    simulate: bool = True
    distances: Sequence[int] = ()


class Evaluation:
    """One program's evaluation; what is finished is found again in the results folder."""

    def __init__(
        self,
        settings: Settings,
        options: EvaluationOptions,
        findings: Findings,
        jobs: tuple[Job, Job],
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._options = options
        self._findings = findings
        self._train, self._reference = jobs
        self._reporter = reporter
        self._allocators = four_allocators()
        self._stack = ExitStack()

    def __enter__(self) -> Evaluation:
        self._scratch = self._stack.enter_context(workspace())
        launcher = self._stack.enter_context(Launcher(self._options.cpu))
        self._laboratory = Laboratory(
            self._settings, launcher, self._scratch, self._options.results
        )
        self._journal = Journal(self._options.results / "stages", self._common_inputs())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self) -> dict[str, Any]:
        """All stages; returns the document for results.json."""
        plain = self._plain()
        quick = self._samples("allocators", self._train, list(plain.values()), QUICK_ROUNDS)
        self._findings.training = quick
        chosen = min(self._allocators, key=lambda a: median(walls(quick[a.name])))
        profile = self._record()
        candidates = self._candidates(profile, chosen)
        contenders = [*plain.values(), *(self._contender(c) for c in candidates)]
        training = self._samples("training", self._train, contenders, self._options.trials)
        self._keep(training, candidates, Candidate(Recipe(NONE, NONE), chosen, None))
        simulation = self._simulate(profile, contenders) if self._options.simulate else None
        reference = self._samples("reference", self._reference, contenders, self._options.trials)
        kept = self._findings.kept
        assert kept is not None
        of_kept = reference[chosen.name if kept.plan is None else kept.recipe.label]
        self._findings.reference = {**reference, HALO: of_kept}
        document = raw_results(self._findings)
        document["contenders"] = self._described(candidates)
        document["training_trials_of_contenders"] = raw_trials(training)
        if simulation is not None:
            document["simulation"] = simulation
        if self._options.distances:
            document["distances"] = self._distances(chosen)
        return document

    # --- what the stages depend on ---

    def _common_inputs(self) -> dict[str, Any]:
        settings = self._settings
        machine = {k: v for k, v in self._findings.machine.items() if k != "load_average"}
        return {
            "machine": machine,
            "runtime": digest(settings.runtime),
            "preloaded": self._options.environment.get("LD_PRELOAD", ""),
            "cpu": self._options.cpu,
        }

    def _recorder_inputs(self, **more: Any) -> dict[str, Any]:
        """Of what runs on the training input under the recorder."""
        parts = find_producer(self._settings).parts(self._settings)
        return {**self._job_inputs(self._train), "recorder": [digest(p) for p in parts], **more}

    def _job_inputs(self, job: Job) -> dict[str, Any]:
        files = [job.stdin, *(Path(argument) for argument in job.arguments)]
        return {
            "program": digest(job.target.path),
            "arguments": list(job.arguments),
            "files": [digest(path) for path in files if path is not None and path.is_file()],
        }

    # --- the stages ---

    def _plain(self) -> dict[str, Contender]:
        environment = self._options.environment
        return {
            a.name: Contender(a.name, preload(environment, [a.library])) for a in self._allocators
        }

    def _contender(self, candidate: Candidate) -> Contender:
        return candidate.contender(
            self._options.environment, self._settings.runtime, candidate.recipe.label
        )

    def _samples(
        self, name: str, job: Job, contenders: Sequence[Contender], trials: int
    ) -> Samples:
        """`trials` rounds in random order, as far as they are not there; one is dropped before."""
        self._reporter.stage(f"timing {len(contenders)} contenders: {name}")
        warm = False

        def run(number: int) -> dict[str, Any]:
            nonlocal warm
            if not warm:
                self._round(job, contenders, Step(0, trials + 1, ""))
                warm = True
            found = self._round(job, contenders, Step(number + 1, trials + 1, ""))
            output = self._laboratory.output(job)
            assert output is not None
            samples = {label: asdict(sample) for label, sample in found.items()}
            return {"output": output.compared(job.ignore_output), "samples": samples}

        inputs = self._job_inputs(job) | {"contenders": [_identity(c) for c in contenders]}
        rounds = self._journal.rounds(name, inputs, trials, run)
        if any(each["output"] != rounds[0]["output"] for each in rounds):
            raise TrialFailed(
                f"The output of {job.target.name} is not the one that it had before the measurement"
                " was interrupted; remove the results folder and measure again."
            )
        return {
            c.label: [Sample(**each["samples"][c.label]) for each in rounds] for c in contenders
        }

    def _round(self, job: Job, contenders: Sequence[Contender], step: Step) -> dict[str, Sample]:
        order = list(contenders)
        if self._laboratory.output(job) is not None:
            random.shuffle(order)
        found = {}
        for contender in order:
            self._reporter.notice(step._replace(label=contender.label))
            found[contender.label] = self._laboratory.measure(job, contender)
        return found

    def _record(self) -> Profile:
        """Recorded twice: as `halo run` does, for what it costs; and with streams, to keep."""
        self._reporter.stage("recording the training run")
        path = self._options.results / "train.profile"
        inputs = self._recorder_inputs(references=STREAM_REFERENCES)
        found = self._journal.stage("record", inputs, lambda: self._record_now(path))
        if not path.is_file() or digest(path) != found["profile"]:
            self._journal.forget("record")
            found = self._journal.stage("record", inputs, lambda: self._record_now(path))
        self._findings.record = RecordCost(
            found["seconds"], median(walls(self._findings.training["glibc"])), found["output_equal"]
        )
        return read_profile(path)

    def _record_now(self, path: Path) -> dict[str, Any]:
        seconds, output_equal = self._run_recorder(Limits(), None)
        self._run_recorder(Limits(streams=STREAM_REFERENCES), path)
        return {"seconds": seconds, "output_equal": output_equal, "profile": digest(path)}

    def _run_recorder(self, limits: Limits, keep: Path | None) -> tuple[float, bool]:
        folder, job = self._scratch / "record", self._train
        environment = self._options.environment
        with Launcher() as launcher:
            run = run_recorder(self._settings, launcher, job, environment, limits, folder)
        try:
            first = self._laboratory.output(job) or self._output_of(job)
            if run.ending.signal or run.ending.exit_status != first.exit_status:
                raise RecordingFailed(
                    f"{job.target.name} ended with status {run.ending.exit_status} under the"
                    f" recorder instead of {first.exit_status}; try `halo record` on it to see why."
                )
            if keep is not None:
                parts = sorted(folder.glob("part.*.json"))
                merge_recording(parts, job.target.path, job.arguments, keep)
            return run.wall, digest(folder / "stdout") == first.stdout_sha256
        finally:
            shutil.rmtree(folder)

    def _output_of(self, job: Job) -> Output:
        self._laboratory.measure(job, next(iter(self._plain().values())))
        output = self._laboratory.output(job)
        assert output is not None
        return output

    def _candidates(self, profile: Profile, allocator: Allocator) -> list[Candidate]:
        """The compared strategies that group anything in this program."""
        found = []
        for recipe in COMPARED:
            plan = make_plan(profile, recipe.strategy, recipe.options)
            if plan.is_inert:
                continue
            path = (
                self._options.results
                / f"{recipe.label.replace(' plan', '').replace(' ', '-')}.plan"
            )
            save_plan(plan, path)
            huge = any(group.huge_pages for group in plan.groups)
            found.append(Candidate(recipe, allocator, path, huge))
        return found

    def _keep(self, training: Samples, candidates: Sequence[Candidate], none: Candidate) -> None:
        """What `halo run` would keep of these, by the same rule on the training input."""
        controls = {recipe.label for recipe in COMPARED if recipe.strategy in CONTROLS}
        running = [none, *(c for c in candidates if c.recipe.label not in controls)]
        samples = {
            c.label: training[none.allocator.name if c.plan is None else c.recipe.label]
            for c in running
        }
        self._findings.candidates = running
        self._findings.race = samples
        self._findings.verdict = judge(samples, [none.label], self._options.trials)

    def _simulate(self, profile: Profile, contenders: Sequence[Contender]) -> dict[str, Any]:
        found = {}
        for contender in contenders:
            self._reporter.stage(f"simulating the training run: {contender.label}")
            inputs = self._recorder_inputs(contender=_identity(contender))
            found[contender.label] = self._journal.stage(
                f"simulated-{contender.label.replace(' ', '-')}",
                inputs,
                partial(
                    simulate_contender,
                    self._settings,
                    self._train,
                    contender.environment,
                    self._scratch,
                ),
            )
        self._reporter.stage("simulating the training run: its allocation contexts")
        inputs = self._recorder_inputs()
        owners = self._journal.stage("simulated-owners", inputs, self._simulated_owners)
        ids = {profile.stack_key(at): at for at in range(len(profile.contexts))}
        keys = owners.pop("keys")
        contexts = [
            {**it, "context": ids[key]}
            for it, key in zip(owners.pop("contexts"), keys, strict=True)
            if key in ids
        ]
        return {"input": "training", "contenders": found, **owners, "contexts": contexts}

    def _simulated_owners(self) -> dict[str, Any]:
        """Whose misses they are, of a recording of its own: it may number contexts otherwise."""
        path = self._scratch / "simulated.profile"
        self._run_recorder(Limits(machine="this"), path)
        profile = read_profile(path)
        found = plain_run_json(profile)
        return {**found, "keys": [profile.stack_key(it["context"]) for it in found["contexts"]]}

    def _distances(self, allocator: Allocator) -> dict[str, Any]:
        """The strategy `halo` on recordings at several affinity distances (figure 12)."""
        points = {}
        for distance in self._options.distances:
            self._reporter.stage(f"recording at an affinity distance of {distance}")
            plan = self._options.results / f"distance-{distance}.plan"
            inputs = self._recorder_inputs(distance=distance)
            make = partial(self._plan_at, distance, plan)
            found = self._journal.stage(f"distance-{distance}", inputs, make)
            if not plan.is_file() or digest(plan) != found["plan"]:
                self._journal.forget(f"distance-{distance}")
                found = self._journal.stage(f"distance-{distance}", inputs, make)
            recipe = Recipe(f"distance {distance}", "halo")
            points[distance] = self._contender(
                Candidate(recipe, allocator, plan, found["huge_pages"])
            )
        plain = self._plain()[allocator.name]
        contenders = [plain, *points.values()]
        samples = self._samples("distances", self._reference, contenders, self._options.trials)
        return {
            "strategy": "halo",
            "allocator": allocator.name,
            "baseline": [asdict(sample) for sample in samples[plain.label]],
            "points": [
                {"distance": d, "trials": [asdict(s) for s in samples[c.label]]}
                for d, c in points.items()
            ],
        }

    def _plan_at(self, distance: int, path: Path) -> dict[str, Any]:
        profile = path.with_suffix(".profile")
        self._run_recorder(Limits(distance=distance), profile)
        plan = make_plan(read_profile(profile), "halo", {})
        profile.unlink()
        save_plan(plan, path)
        huge = any(group.huge_pages for group in plan.groups)
        return {"plan": digest(path), "huge_pages": huge}

    def _described(self, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """What each label stands for."""
        plain = {
            a.name: {"strategy": NONE, "candidate": NONE, "allocator": a.name}
            for a in self._allocators
        }
        planned = {
            c.recipe.label: {
                "strategy": c.recipe.strategy,
                "candidate": c.recipe.label,
                "allocator": c.allocator.name,
                "identification": _identification(c.recipe),
                "plan": c.plan.name if c.plan else None,
            }
            for c in candidates
        }
        return plain | planned


def _identification(recipe: Recipe) -> str:
    """What tells the groups apart under a recipe's plan."""
    if recipe.strategy in CONTROLS:
        return "random"
    return recipe.options.get("identification", "walk")


def _identity(contender: Contender) -> dict[str, Any]:
    """All that makes a contender what it is: its label, libraries and plan, by content."""
    libraries = contender.environment.get("LD_PRELOAD", "").split(":")
    plan = contender.environment.get("HALO_PLAN")
    return {
        "label": contender.label,
        "libraries": [digest(Path(it)) if Path(it).is_file() else it for it in libraries],
        "plan": digest(Path(plan)) if plan else None,
    }
