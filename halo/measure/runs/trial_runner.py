"""Runs jobs under configurations, one process at a time or several in time slices."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from halo.base.errors import BadInput, TrialFailed
from halo.base.schema.trial import Runtime, Trial
from halo.base.settings import Settings
from halo.binary.process.target import Target
from halo.measure.aging import LitterLog
from halo.measure.runs.allocator_share import run_under
from halo.measure.runs.failures import (
    ConfigurationFailed,
    Overdue,
    command_of,
)
from halo.measure.runs.first_outputs import STREAMS, FirstOutputs
from halo.measure.runs.job import Configuration, Job, Output, digest
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.runs.litter import HeapAging
from halo.measure.runs.machine import cooldown
from halo.measure.runs.simulated_runs import simulated_profile
from halo.measure.runs.single_run import TimeLimits, native_limits, overdue, run_in_slices, run_job
from halo.measure.runs.slices import even_parts, processes_that_fit, slices, unsuited
from halo.record.producer import CommandLine
from halo.record.profile import Profile

STATS = "stats"  # the files of the runtime's reports, before the pid
RECORDED = "HALO_LITTER_RECORDED"  # tells the recorder to drop the events of the littering
NEVER = (0, 0)  # a compared file's times before a run, to detect whether it was written


class TrialRunner:
    """Holds the launcher, a scratch folder, and what the first run of each job was like.

    `left_out` has the reason by label if an optional configuration is left out. `remarks` are those
    of `FirstOutputs`, and one if a program bears no time slices.
    """

    def __init__(
        self,
        settings: Settings,
        launcher: Launcher,
        scratch: Path,
        evidence: Path,
        fresh: bool = False,
        remind: Callable[[str], None] | None = None,
    ) -> None:
        """`evidence` and `fresh` are of `FirstOutputs`.

        `remind` gets a sentence if a first run takes long.
        """
        self._settings = settings
        self._launcher = launcher
        self._aging = HeapAging(settings, launcher, scratch, evidence)
        self._scratch = scratch
        self._remind = remind
        self._seconds: dict[Job, float] = {}  # of the first run
        self._usual: dict[tuple[Job, str], float] = {}  # of the last run, by label
        self._peak_memory: dict[Job, int] = {}  # of the first run, in bytes
        self._suited: set[Job] = set()  # whose runs may have slices
        self._outputs = FirstOutputs(
            scratch, evidence, fresh, lambda job, config: self._run(job, config)[1]
        )
        self.left_out: dict[str, str] = {}
        self._huge_freed = -math.inf

    @property
    def remarks(self) -> dict[str, str]:
        return self._outputs.remarks

    def measure(self, job: Job, config: Configuration) -> Trial:
        """One fresh process.

        Raises `TrialFailed` if its output differs from the first run's, or if the first run failed;
        `LitterFailed` if its heap was not aged as the configuration requires.
        """
        return self._judged(job, config, *self._run(job, config))

    def consider_slices(self, job: Job, native: Configuration, first: Sequence[Trial]) -> str:
        """Lets rounds of the job run in time slices if it is suited; else returns why it is not.

        `first`: its first runs, under `native`.
        """
        tool, output = self._settings.effects, self._outputs.of(job)
        assert output is not None  # of its first run
        why = unsuited(tool, self._launcher, job, native, first, output, self._scratch)
        self.permit_slices(job, not why)
        return why

    def permit_slices(self, job: Job, permitted: bool) -> None:
        (self._suited.add if permitted else self._suited.discard)(job)

    def batches(
        self, job: Job, configs: Sequence[Configuration]
    ) -> Sequence[Sequence[Configuration]]:
        """A round of these, as those that run together, in time slices, or each alone."""
        most = processes_that_fit(self._peak_memory[job]) if job in self._suited else 1
        return even_parts(configs, most)

    def measure_batch(self, job: Job, configs: Sequence[Configuration]) -> dict[str, Trial]:
        """As `measure` for each. An optional configuration that cannot run the job is left out.

        If time slices are what makes an output differ, the job has no more of them.
        """
        if len(configs) > 1:
            found = self._in_slices(job, configs)
            if found is not None:
                return found
            self.permit_slices(job, False)
            self.remarks[f"{job.target.name} in slices"] = (
                f"{command_of(job)} prints something else if it is stopped meanwhile, so its runs"
                " follow one another."
            )
        return self._one_by_one(job, configs)

    def _one_by_one(self, job: Job, configs: Sequence[Configuration]) -> dict[str, Trial]:
        found = {}
        for config in configs:
            try:
                found[config.label] = self.measure(job, config)
            except ConfigurationFailed as failure:
                self.left_out[config.label] = str(failure)
        return found

    def _in_slices(self, job: Job, configs: Sequence[Configuration]) -> dict[str, Trial] | None:
        """The trials of these in time slices; None if an output differs because of the slices."""
        runs, streams = self._run_in_slices(job, configs)
        found = {}
        for at, (config, run) in enumerate(zip(configs, runs, strict=True)):
            for path, name in zip((streams[at].stdout, streams[at].stderr), STREAMS, strict=True):
                os.replace(path, self._scratch / name)
            output = self._output(job, run)
            if self._outputs.difference(job, output):
                # Alone, it is judged and blamed like every run.
                if self._one_by_one(job, [config]):
                    return None
                continue
            trial = self._judged(job, config, run, output, _stats(at))
            found[config.label] = structs.replace(trial, in_slices=True)
        return found

    def _run_in_slices(
        self, job: Job, configs: Sequence[Configuration]
    ) -> tuple[Sequence[Run], Sequence[Streams]]:
        streams = [self._streams(job, f".{at}") for at in range(len(configs))]
        commands = [self._command(job, config, _stats(at)) for at, config in enumerate(configs)]
        usual = [self._usual.get((job, it.label), self._seconds[job]) for it in configs]
        limits = self._limits(job, False)
        assert limits.run is not None  # a native run has one
        self._cool_down(configs)
        both = list(zip(commands, streams, strict=True))
        runs = run_in_slices(self._launcher, both, slices(usual), limits.run)
        if isinstance(runs, int):
            raise self._blamed(job, configs[runs], overdue(job, limits))
        return runs, streams

    def _judged(
        self, job: Job, config: Configuration, run: Run, output: Output, stats: str = STATS
    ) -> Trial:
        """The trial of a run. Raises as `measure`."""
        self._outputs.check(job, config, output)
        self._usual[job, config.label] = run.wall
        aged = config.litter is not None
        runtime = self._runtime_report(run.pid, stats) if config.reports else Runtime()
        log = self._aging.log(_program(job, config).name, run.pid) if aged else None
        trial = structs.replace(
            self._trial(job, run, runtime, log),
            status=output.exit_status,
            stderr_bytes=output.stderr_bytes,
            minor_faults=run.minor_faults,
            # Littering takes an unknown part of both.
            main_processor=0.0 if aged else run.main_processor,
            delayed=0.0 if aged else run.delayed,
        )
        if trial.huge_bytes or config.needs_cooldown:
            self._huge_freed = time.monotonic()
        return trial

    def _command(self, job: Job, config: Configuration, stats: str = STATS) -> CommandLine:
        aged = config.litter is not None
        environment = self._aging.environment(job, config) if aged else dict(config.environment)
        if config.reports:
            environment["HALO_STATS"] = os.fspath(self._scratch / f"{stats}.%p")
            environment["HALO_STATS_COUNTS"] = "0"  # which would cost time
        target = _program(job, config)
        return CommandLine(target.path, [target.name, *job.arguments], environment)

    def _cool_down(self, configs: Sequence[Configuration]) -> None:
        if any(config.needs_cooldown for config in configs):
            time.sleep(max(0.0, self._huge_freed + cooldown() - time.monotonic()))

    def _run(self, job: Job, config: Configuration) -> tuple[Run, Output]:
        aged = config.litter is not None
        command = self._command(job, config)
        for path in job.compared:
            if path.exists():
                os.utime(path, ns=NEVER)
        self._cool_down([config])
        try:
            run = run_job(
                self._launcher,
                job,
                command,
                self._streams(job),
                self._settings.environment,
                self._limits(job, aged),
                None if job.timeout or aged or job in self._seconds else self._remind,
            )
        except Overdue as error:
            raise self._blamed(job, config, error) from None
        self._seconds.setdefault(job, run.wall)
        self._peak_memory.setdefault(job, run.peak_memory)
        return run, self._output(job, run)

    def _output(self, job: Job, run: Run) -> Output:
        streams = self._streams(job)
        failed = bool(run.ending.signal or run.failure)
        failed = failed or self._is_unexpected(job, run.ending.exit_status)
        return Output(
            exit_status=0 if run.ending.signal else run.ending.exit_status,
            signal=run.ending.signal,
            stdout_bytes=streams.stdout.stat().st_size,
            stdout_sha256=digest(streams.stdout),
            files_sha256=()
            if failed
            else tuple((str(path), _written(path)) for path in job.compared),
            stderr_bytes=streams.stderr.stat().st_size,
            failure=run.failure,
        )

    def _blamed(self, job: Job, config: Configuration, error: Overdue) -> TrialFailed:
        """The error of a run at its time limit; a later one may be the configuration's fault."""
        if self._outputs.of(job) is None:
            return error
        native = (
            f"{self._seconds[job]:.1f} s in its first run, under {self._outputs.native(job).label}"
        )
        return TrialFailed(
            f"{error.what} under {config.label} did not end within {error.limit}, and was stopped;"
            f" it took {native}. If that limit is too short: --timeout SECONDS."
        )

    def _limits(self, job: Job, aged: bool) -> TimeLimits:
        """Those of a run; ageing the heap takes time of its own, so that only the user knows."""
        limits = native_limits(job, self._seconds.get(job))
        return replace(limits, run=None) if aged and job.timeout is None else limits

    def _is_unexpected(self, job: Job, status: int) -> bool:
        """Whether a run failed, so that its files need not exist."""
        first = self._outputs.of(job)
        return status not in job.allowed if first is None else status != first.exit_status

    def _streams(self, job: Job, ending: str = "") -> Streams:
        stdin = job.stdin or Path(os.devnull)
        return Streams(stdin, *(self._scratch / (name + ending) for name in STREAMS))

    def _trial(self, job: Job, run: Run, runtime: Runtime, log: LitterLog | None) -> Trial:
        wall = run.wall
        if job.service is None:
            wall -= float(runtime.get("report_seconds", 0.0))
        else:
            runtime.pop("report_seconds", None)  # reported after the load, whose times these are
        if log is None:
            times = (wall, run.user, run.system)
            return Trial(*times, run.peak_memory, runtime, run.counters)
        if log.program_seconds is not None:
            wall = log.program_seconds  # without the runtime's report
        else:
            wall -= log.seconds
        # The kernel's processor time is too coarse for a short program.
        user = max(0.0, run.user - log.user_seconds)
        system = max(0.0, run.system - log.system_seconds)
        memory = run.peak_memory
        return Trial(wall, user, system, memory, runtime, run.counters, log.raw)

    def sample(self, perf: str, job: Job, config: Configuration) -> tuple[Path, float]:
        """Runs once under perf: the samples, and the program's start in monotonic seconds.

        The configuration must have settings of litter, as the start is in the litterer's log.
        """
        data = self._scratch / "perf.data"
        environment = self._aging.environment(job, config)
        streams = self._streams(job)
        target = _program(job, config)
        argv = [target.name, *job.arguments]
        run_under(perf, self._launcher, target.path, argv, environment, streams, data)
        return data, self._aging.only_log(target.name).program_start

    def simulate(self, job: Job, config: Configuration) -> Profile:
        """Runs once with simulated caches and TLBs, from the program's start on.

        The configuration must have settings of litter, as in `sample`.
        """
        environment = {**self._aging.environment(job, config), RECORDED: "1"}
        target = _program(job, config)
        inside = replace(job, target=target)
        found = simulated_profile(self._settings, inside, environment, self._scratch)
        self._aging.only_log(target.name)
        return found

    def output(self, job: Job) -> Output | None:
        """The output that every run of this job must have; None before the first run."""
        return self._outputs.of(job)

    def _runtime_report(self, pid: int, stats: str) -> Runtime:
        """The runtime's report on this process; those of its children are only counted."""
        found: Runtime = {}
        reports = list(self._scratch.glob(f"{stats}.*"))
        for path in reports:
            if path.name == f"{stats}.{pid}":
                try:
                    found = json.loads(path.read_text())
                except (OSError, ValueError):
                    found = {"active": False, "reason": "the runtime's report is damaged"}
            path.unlink(missing_ok=True)
        if found and len(reports) > 1:
            found["other_processes"] = len(reports) - 1
        return found


def _stats(at: int) -> str:
    """The name before the pid of the runtime's reports on a run of a batch."""
    return f"{STATS}-{at}"


def _program(job: Job, config: Configuration) -> Target:
    return config.program or job.target


def _written(path: Path) -> str:
    if not path.is_file() or path.stat().st_mtime_ns == NEVER[1]:
        raise BadInput(f"The program did not write {path}, which --compare names; check the path.")
    return digest(path)
