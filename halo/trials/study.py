"""The whole of `halo run`: time the allocators, record, race the candidate plans, measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from types import TracebackType

from halo.aging import Litter
from halo.allocators import Allocator, four_allocators, preload
from halo.errors import RecordingFailed, TrialFailed
from halo.planning import merge_recording
from halo.producers.registry import find_producer
from halo.profile import Profile
from halo.recording import Limits, workspace
from halo.settings import Settings
from halo.target import check_privileges
from halo.trials.candidates import Candidate, Recipe, make_candidates, make_plans
from halo.trials.failures import ProgramFailed
from halo.trials.findings import HALO, Findings, RecordCost
from halo.trials.first_runs import run_first
from halo.trials.job import Contender, Job
from halo.trials.laboratory import Laboratory, digest
from halo.trials.launcher import Launcher, Run
from halo.trials.placement import MIN_TRIALS, all_within, plan_changes
from halo.trials.race import HEATS, race
from halo.trials.reporter import Reporter
from halo.trials.results import left_out
from halo.trials.rounds import Samples, interleave, relative_times, walls
from halo.trials.simulating import run_recorder

NEAR = 1.03  # next allocators join the race where they are this close to the best
MOST_ROUNDS = 21
FINAL_SECONDS = 6.0  # of runs of one finalist: a short run gets more rounds, for it is noisier


@dataclass(frozen=True)
class Options:
    """What the user can set about a measurement."""

    trials: int
    results: Path
    environment: Mapping[str, str]
    cpu: int | None = None
    recipes: Sequence[Recipe] = ()
    limits: Limits = field(default_factory=Limits)
    litter: Litter | None = None


class Study:
    """The stages of a measurement over one laboratory; `findings` fill up as they go."""

    def __init__(
        self, settings: Settings, options: Options, findings: Findings, reporter: Reporter
    ) -> None:
        self._settings = settings
        self._options = options
        self._findings = findings
        self._reporter = reporter
        self._allocators = four_allocators()
        self._remarks: list[str] = []
        self._stack = ExitStack()

    def __enter__(self) -> Study:
        self._scratch = self._stack.enter_context(workspace())
        self._launcher = self._stack.enter_context(Launcher(self._options.cpu))
        self._laboratory = Laboratory(
            self._settings, self._launcher, self._scratch, self._options.results
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def run(self, train: Job, reference: Job) -> None:
        """All stages. A difference in output ends them, with the findings so far."""
        check_privileges(train.target)
        find_producer(self._settings)
        with self._watching_outputs(reference):
            self._run_first([train, reference] if reference != train else [train])
            self._time_allocators(train)
            profile = self._record(train)
            self._race_candidates(train, profile)
            self._check_dropped(train)
            self._measure_reference(reference)

    def baseline(self, reference: Job) -> None:
        """The four allocators alone."""
        with self._watching_outputs(reference):
            self._run_first([reference], place_objects=False)
            self._measure(reference, self._plain(), "reference")

    @contextmanager
    def _watching_outputs(self, job: Job) -> Iterator[None]:
        """Writes down what the laboratory has seen of outputs, also of a study that fails."""
        self._findings.outputs_compared = not job.ignore_output
        try:
            yield
        except TrialFailed as error:
            self._findings.outputs_equal = None if isinstance(error, ProgramFailed) else False
            raise
        finally:
            self._findings.left_out = self._laboratory.left_out
            self._remarks += self._laboratory.remarks.values()
            self._findings.remarks = self._remarks

    def _run_first(self, jobs: Sequence[Job], place_objects: bool = True) -> None:
        """Nothing is spent on a program that fails, or does something else each time."""
        if self._options.trials < MIN_TRIALS:
            self._reporter.warn(
                f"--trials {self._options.trials} shows figures only: fewer than {MIN_TRIALS}"
                " trials conclude nothing."
            )
        self._reporter.stage("running it under glibc first")
        native = self._plain()[0]
        for job in jobs:
            found = run_first(self._laboratory, self._launcher, job, native, place_objects)
            for remark in found.remarks:
                if remark not in self._remarks:
                    self._reporter.warn(remark)
                    self._remarks.append(remark)

    def _plain(self) -> list[Contender]:
        return [
            Contender(
                allocator.name,
                preload(self._options.environment, [allocator.library]),
                litter=self._options.litter,
                optional=allocator.library is not None,
            )
            for allocator in self._allocators
        ]

    def _measure(self, job: Job, contenders: Sequence[Contender], what: str) -> None:
        self._reporter.stage(f"measuring on the {what} input")
        self._findings.reference = interleave(
            self._laboratory, job, contenders, self._options.trials, self._reporter.notice
        )

    def _time_allocators(self, train: Job) -> None:
        self._reporter.stage("timing the allocators on the training input")
        plain = self._plain()
        first = self._laboratory.measure(train, plain[0])
        self._findings.training = interleave(
            self._laboratory, train, plain, quick_trials(first.wall), self._reporter.notice
        )
        for name, why in self._laboratory.left_out.items():
            self._reporter.warn(left_out(name, self._findings.program, why))

    def _record(self, train: Job) -> Profile:
        self._reporter.stage("recording the training run")
        with Launcher() as launcher:
            run, folder = self._run_recorder(launcher, train)
        first = self._laboratory.output(train)
        assert first is not None
        if run.ending.signal or run.ending.exit_status != first.exit_status:
            raise RecordingFailed(
                f"{train.target.name} ended with status {run.ending.exit_status} under the recorder"
                f" instead of {first.exit_status}; try `halo record` on it to see why."
            )
        self._findings.record = RecordCost(
            seconds=run.wall,
            native_seconds=median(walls(self._findings.training["glibc"])),
            output_equal=digest(folder / "stdout") == first.stdout_sha256,
        )
        path = self._options.results / "train.profile"
        parts = sorted(folder.glob("part.*.json"))
        return merge_recording(parts, train.target.path, train.arguments, path)

    def _run_recorder(self, launcher: Launcher, train: Job) -> tuple[Run, Path]:
        folder = self._scratch / "record"
        environment = self._options.environment
        limits = self._options.limits
        return run_recorder(self._settings, launcher, train, environment, limits, folder), folder

    def _race_candidates(self, train: Job, profile: Profile) -> None:
        self._reporter.stage("making candidate plans")
        plans = make_plans(profile, self._options.recipes, self._options.results)
        candidates = make_candidates(plans, self._next_allocators())
        self._findings.candidates = candidates
        self._reporter.stage(f"racing {len(candidates)} candidates on the training input")
        contenders = {c.label: self._contender(c, c.label) for c in candidates}

        def measure(labels: Sequence[str], rounds: int, heat: int) -> Samples:
            chosen = [contenders[label] for label in labels]
            if heat < HEATS - 1:
                chosen = [replace(contender, settles=False) for contender in chosen]
            notice = self._reporter.notice
            return interleave(self._laboratory, train, chosen, rounds, notice, int(heat == 0))

        controls = [c.label for c in candidates if c.plan is None]
        hungry = [c.label for c in candidates if c.huge_pages]
        control = median(walls(self._findings.training[candidates[0].allocator.name]))
        rounds = final_rounds(control, self._options.trials)
        self._findings.race, self._findings.verdict = race(
            measure, list(contenders), controls, rounds, hungry
        )

    def _check_dropped(self, train: Job) -> None:
        """More rounds of the plans that the race dropped early, if only they leave a doubt.

        A plan was not kept, and no finalist changes anything: that the program is not
        placement-sensitive is shown only if it holds of every plan.
        """
        findings = self._findings
        changes = plan_changes(findings)
        dropped = {c.label for c in changes if c.rounds < MIN_TRIALS}
        kept = findings.kept
        if kept is None or kept.plan is not None or not dropped or not all_within(changes):
            return
        controls = {c.label for c in findings.candidates if c.plan is None}
        chosen = [c for c in findings.candidates if c.label in dropped | controls]
        self._reporter.stage(f"running the {len(dropped)} other plans: does any change the time?")
        contenders = [self._contender(c, c.label) for c in chosen]
        findings.checked = interleave(
            self._laboratory, train, contenders, MIN_TRIALS, self._reporter.notice
        )

    def _next_allocators(self) -> list[Allocator]:
        """The best allocators on the training input, the fastest first."""
        times = relative_times(self._findings.training)
        running = [allocator for allocator in self._allocators if allocator.name in times]
        ranked = sorted(running, key=lambda allocator: times[allocator.name])
        best = times[ranked[0].name]
        return [a for a in ranked if times[a.name] <= NEAR * best]

    def _contender(self, candidate: Candidate, label: str) -> Contender:
        plain = candidate.contender(self._options.environment, self._settings.runtime, label)
        return replace(plain, litter=self._options.litter)

    def _measure_reference(self, reference: Job) -> None:
        kept = self._findings.kept
        assert kept is not None
        if kept.plan is not None:
            self._measure(reference, [*self._plain(), self._contender(kept, HALO)], "reference")
            return
        # `none` is that allocator's own command: a second series of it would measure only noise.
        self._measure(reference, self._plain(), "reference")
        own = self._findings.reference.get(kept.allocator.name)
        if own is not None:
            self._findings.reference[HALO] = own


def quick_trials(seconds: float) -> int:
    """How many rounds tell the allocators apart: many of a short run, few of a long one."""
    if seconds > 30:
        return 2
    return max(5, min(15, round(2 / max(seconds, 0.01))))


def final_rounds(seconds: float, trials: int) -> int:
    """Rounds for the finalists of the race, whose runs take about that long."""
    least = max(MIN_TRIALS, trials)
    return max(least, min(MOST_ROUNDS, round(FINAL_SECONDS / max(seconds, 0.01))))


def command_line(job: Job) -> list[str]:
    """The job's command, for the results."""
    return job.command
