"""A measurement in progress: its runner, its findings and its finished stages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from msgspec import to_builtins

from halo.base.errors import TrialFailed
from halo.base.schema.results import Machine
from halo.base.settings import Settings
from halo.binary.process.allocators import GLIBC_ALONE, Allocator, alone, baseline_allocators
from halo.measure.aging import Litter
from halo.measure.candidates import Candidate
from halo.measure.findings import Findings
from halo.measure.job_inputs import JobInputs
from halo.measure.journal import Journal
from halo.measure.racing.budget import EFFORTS, NORMAL, Budget, Effort
from halo.measure.reporter import Reporter
from halo.measure.runs.failures import ProgramFailed
from halo.measure.runs.job import Configuration, Job, digest
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.trial_runner import TrialRunner
from halo.plan.runtimes import runtimes
from halo.record.parts import workspace
from halo.record.registry import usable_engines

STAGES = "stages"
"""The folder of finished stages in a results folder."""

TELLING = ("GLIBC_TUNABLES", "LD_", "MALLOC_", "MIMALLOC_", "TCMALLOC_")
"""How the names of variables begin that change how objects are allocated, or what is loaded."""


@dataclass(frozen=True)
class MeasurementOptions:
    """The options of all measurements; `litter` ages the heap of every trial.

    `trials`: 0 for as many as the answer needs. `native`: what the program has without halo.
    `allocators` are further ones to measure.
    """

    trials: int
    results: Path
    environment: Mapping[str, str]
    cpu: int | None = None
    litter: Litter | None = None
    native: Allocator = GLIBC_ALONE
    effort: Effort = EFFORTS[NORMAL]
    allocators: Sequence[Allocator] = ()


class Session:
    """A runner, a journal of finished stages, and the findings so far."""

    def __init__(
        self,
        settings: Settings,
        options: MeasurementOptions,
        findings: Findings,
        reporter: Reporter,
    ) -> None:
        self.settings = settings
        self.options = options
        self.findings = findings
        self.reporter = reporter
        self.allocators = [*baseline_allocators(options.native), *options.allocators]
        findings.native = options.native
        self.settings_tried: list[Allocator] = []
        self.remarks: list[str] = []
        self.inputs = JobInputs()
        self.native_seconds: dict[Job, float] = {}  # of the first runs
        self.enough_recording: float | None = None  # seconds after which a recording ends
        self.timed: Job | None = None  # the job that the allocators were timed on
        self.peak_memory: dict[Job, int] = {}  # of the first runs, in bytes
        self.holds_out = False  # no decision has seen the input of the answer
        self.is_shared = False  # other programs use the processors that the recorder needs
        self._stack = ExitStack()

    def __enter__(self) -> Session:
        self.scratch = self._stack.enter_context(workspace())
        self.launcher = self._stack.enter_context(Launcher(self.options.cpu))
        self.runner = TrialRunner(
            self.settings,
            self.launcher,
            self.scratch,
            self.options.results,
            remind=self.reporter.warn,
        )
        common = common_inputs(self.settings, self.options, self.findings.machine)
        self.journal = Journal(self.options.results / STAGES, common)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @contextmanager
    def watching_outputs(self, job: Job) -> Iterator[None]:
        """Stores the runner's comparison of outputs in the findings, even on failure."""
        self.findings.outputs_compared = not job.ignore_output
        try:
            yield
        except TrialFailed as error:
            self.findings.outputs_equal = None if isinstance(error, ProgramFailed) else False
            raise
        finally:
            self.findings.left_out = self.runner.left_out
            self.findings.remarks = [*self.remarks, *self.runner.remarks.values()]

    def remark(self, sentence: str) -> None:
        """Warns once, and keeps the warning for the results."""
        if sentence not in self.remarks:
            self.reporter.warn(sentence)
            self.remarks.append(sentence)

    def budget(self, job: Job) -> Budget:
        """The time for the measurement, if decisions are made on this job."""
        return Budget(self.native_seconds[job], self.options.effort)

    def in_slices(self, job: Job, configs: Sequence[Configuration]) -> bool:
        """Whether all runs of a round take place in time slices, at once."""
        return len(configs) > 1 and len(self.runner.batches(job, configs)) == 1

    def baselines(self) -> list[Configuration]:
        """A configuration of each baseline allocator alone; the program's own first."""
        return [self.alone(allocator) for allocator in self.allocators]

    def alone(self, allocator: Allocator) -> Configuration:
        """The configuration of that allocator without a plan."""
        self.findings.known[allocator.name] = allocator
        return Configuration(
            allocator.name,
            alone(self.options.environment, allocator),
            litter=self.options.litter,
            needs_cooldown=allocator.has_huge_pages,
            optional=allocator.library is not None or allocator.setting is not None,
        )

    def planned(self, candidate: Candidate, label: str) -> Configuration:
        """The configuration of the candidate under that label."""
        return candidate.config(
            self.options.environment, self.settings.runtime, label, self.options.litter
        )

    def recorder_inputs(self, job: Job, **more: Any) -> dict[str, Any]:
        """The inputs of a recording of the job, for the journal."""
        engines, _ = usable_engines(self.settings)
        parts = [part for engine in engines for part in engine.parts(self.settings)]
        return {**self.inputs.of(job), "recorder": [digest(part) for part in parts], **more}


def common_inputs(
    settings: Settings, options: MeasurementOptions, measured_on: Machine
) -> dict[str, Any]:
    """What every trial of a measurement depends on."""
    machine = to_builtins(measured_on)
    del machine["load_average"]
    return {
        "machine": machine,
        "runtime": [digest(path) for path in runtimes(settings.runtime) if path.is_file()],
        "cpu": options.cpu,
        "environment": relevant_variables(options.environment, settings.environment),
    }


def relevant_variables(environment: Mapping[str, str], users: Mapping[str, str]) -> dict[str, str]:
    """The variables for allocators or the loader, and those that differ from the user's own.

    The others change from terminal to terminal, in which an interrupted measurement may continue.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(TELLING) or users.get(name) != value
    }


def identities(configs: Sequence[Configuration]) -> list[dict[str, Any]]:
    """The identity of each configuration: label, libraries and plan by content, variables, heap."""
    return [_identity(config) for config in configs]


def _identity(config: Configuration) -> dict[str, Any]:
    libraries = config.environment.get("LD_PRELOAD", "").split(":")
    plan = config.environment.get("HALO_PLAN")
    found: dict[str, Any] = {
        "label": config.label,
        "libraries": [digest(Path(it)) if os.path.isfile(it) else it for it in libraries],
        "plan": digest(Path(plan)) if plan else None,
        "variables": {
            name: value
            for name, value in sorted(config.environment.items())
            if name.startswith(TELLING) and name != "LD_PRELOAD"
        },
    }
    if config.litter is not None:
        found["litter"] = config.litter.settings()
    if config.program is not None:
        found["program"] = digest(config.program.path)
    return found
