"""Runs a job once under a contender, and compares its output with that of the job's first run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from halo.aging import LitterLog
from halo.errors import BadInput, TrialFailed
from halo.profile import Profile
from halo.settings import Settings
from halo.trials.ageing import Ageing
from halo.trials.inside import run_under
from halo.trials.job import Contender, Job, Output, Sample
from halo.trials.launcher import Launcher, Run, Streams
from halo.trials.simulating import simulated_profile

STREAMS = ("stdout", "stderr")
# Seconds after which a host has taken back the huge pages that a run has freed (free page reporting
# waits two). A run that starts before finds them still there, and is faster than a real one.
SETTLE = 3.0
RECORDED = "LITTER_RECORDED"  # the recorder is to forget the littering
NEVER = (0, 0)  # a compared file's times before a run, so that it shows whether it was written


class Laboratory:
    """Holds the launcher, a scratch folder, and the output of each job's first run."""

    def __init__(
        self, settings: Settings, launcher: Launcher, scratch: Path, evidence: Path
    ) -> None:
        self._settings = settings
        self._launcher = launcher
        self._ageing = Ageing(settings, launcher, scratch, evidence)
        self._scratch = scratch
        self._evidence = evidence
        self._first: dict[Job, Output] = {}
        self._huge_freed = -SETTLE

    def measure(self, job: Job, contender: Contender) -> Sample:
        """One fresh process. TrialFailed where its output is not that of the first one.

        LitterFailed where its heap was not aged as the contender asks for.
        """
        streams = self._streams(job)
        aged = contender.litter is not None
        environment = (
            self._ageing.environment(job, contender) if aged else dict(contender.environment)
        )
        if contender.reports:
            environment["HALO_STATS"] = os.fspath(self._scratch / "stats.%p")
            environment["HALO_STATS_COUNTS"] = "0"  # which would cost time
        for path in job.compared:
            if path.exists():
                os.utime(path, ns=NEVER)
        target = contender.program or job.target
        argv = [target.name, *job.arguments]
        if contender.settles:
            time.sleep(max(0.0, self._huge_freed + SETTLE - time.monotonic()))
        run = self._launcher.run(target.path, argv, environment, streams)
        output = Output(
            exit_status=0 if run.ending.signal else run.ending.exit_status,
            signal=run.ending.signal,
            stdout_bytes=streams.stdout.stat().st_size,
            stdout_sha256=digest(streams.stdout),
            files_sha256=tuple((str(path), _written(path)) for path in job.compared),
        )
        self._check(job, contender, output)
        runtime = self._runtime_report(run.pid) if contender.reports else {}
        sample = self._sample(
            run, runtime, self._ageing.log(target.name, run.pid) if aged else None
        )
        if sample.huge_bytes:
            self._huge_freed = time.monotonic()
        return sample

    def _streams(self, job: Job) -> Streams:
        stdin = job.stdin or Path(os.devnull)
        return Streams(stdin, self._scratch / "stdout", self._scratch / "stderr")

    def _sample(self, run: Run, runtime: dict[str, Any], log: LitterLog | None) -> Sample:
        wall = run.wall - float(runtime.get("report_seconds", 0.0))
        if log is None:
            return Sample(wall, run.user, run.system, run.peak_memory, runtime, run.counters)
        if log.program_seconds is not None:
            wall = log.program_seconds  # it ends before the runtime reports
        else:
            wall -= log.seconds
        # The kernel counts processor time more coarsely than a short program takes.
        user = max(0.0, run.user - log.user_seconds)
        system = max(0.0, run.system - log.system_seconds)
        return Sample(wall, user, system, run.peak_memory, runtime, run.counters, log.raw)

    def sample(self, perf: str, job: Job, contender: Contender) -> tuple[Path, float]:
        """One run under perf: the samples, and when the program began, in monotonic seconds.

        The contender must have settings of litter: it is the litterer that tells when.
        """
        data = self._scratch / "perf.data"
        environment = self._ageing.environment(job, contender)
        streams = self._streams(job)
        target = contender.program or job.target
        argv = [target.name, *job.arguments]
        run_under(perf, self._launcher, target.path, argv, environment, streams, data)
        return data, self._ageing.only_log(target.name).program_start

    def simulate(self, job: Job, contender: Contender) -> Profile:
        """One run with its caches and TLBs simulated, from where the program begins on.

        The contender must have settings of litter, as in `sample`.
        """
        environment = {**self._ageing.environment(job, contender), RECORDED: "1"}
        target = contender.program or job.target
        inside = replace(job, target=target)
        found = simulated_profile(self._settings, inside, environment, self._scratch)
        self._ageing.only_log(target.name)
        return found

    def output(self, job: Job) -> Output | None:
        """The output that every run of this job must have."""
        return self._first.get(job)

    def _check(self, job: Job, contender: Contender, output: Output) -> None:
        name = job.target.name
        first = self._first.get(job)
        if first is None and output.signal:
            self._keep("failed")
            raise TrialFailed(
                f"{name} died by signal {output.signal} on its first run under"
                f" {contender.label}, {_so_far(contender)}; mend that first."
            )
        if first is None:
            self._first[job] = output
            for stream in STREAMS:
                shutil.copyfile(self._scratch / stream, self._first_stream(job, stream))
            return
        difference = first.difference(output)
        if difference:
            self._keep("different")
            for stream in STREAMS:
                shutil.copyfile(self._first_stream(job, stream), self._evidence / f"first.{stream}")
            raise TrialFailed(
                f"The output of {name} under {contender.label} is not that of its first run under"
                f" glibc: {difference}; both are kept in {self._evidence}."
            )

    def _first_stream(self, job: Job, stream: str) -> Path:
        return self._scratch / f"first-{list(self._first).index(job)}.{stream}"

    def _keep(self, name: str) -> None:
        self._evidence.mkdir(parents=True, exist_ok=True)
        for stream in STREAMS:
            shutil.copyfile(self._scratch / stream, self._evidence / f"{name}.{stream}")

    def _runtime_report(self, pid: int) -> dict[str, Any]:
        """What the runtime says of this process; its children's reports are dropped."""
        found: dict[str, Any] = {}
        for path in self._scratch.glob("stats.*"):
            if path.name == f"stats.{pid}":
                try:
                    found = json.loads(path.read_text())
                except (OSError, ValueError):
                    found = {"active": False, "reason": "the runtime's report is damaged"}
            path.unlink(missing_ok=True)
        return found


def _so_far(contender: Contender) -> str:
    if contender.litter is None:
        return "before halo did anything"
    return "when halo had done nothing but age its heap"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _written(path: Path) -> str:
    if not path.is_file() or path.stat().st_mtime_ns == NEVER[1]:
        raise BadInput(f"The program did not write {path}, which --compare names; check the path.")
    return digest(path)
