"""Runs a job once under a contender, and compares its output with that of the job's first run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from halo.aging import LitterLog
from halo.errors import BadInput, TrialFailed
from halo.profile import Profile
from halo.settings import Settings
from halo.target import Target
from halo.trials.ageing import Ageing
from halo.trials.failures import (
    ContenderFailed,
    ProgramFailed,
    last_words,
    remedy,
    shown,
    so_far,
)
from halo.trials.folders import fresh_folder
from halo.trials.inside import run_under
from halo.trials.job import Contender, Job, Output, Sample
from halo.trials.launcher import Launcher, Run, Streams
from halo.trials.simulating import simulated_profile
from halo.trials.standard_input import ignored_input

STREAMS = ("stdout", "stderr")
# Seconds after which a host has taken back the huge pages that a run has freed (free page reporting
# waits two). A run that starts before finds them still there, and is faster than a real one.
SETTLE = 3.0
RECORDED = "LITTER_RECORDED"  # the recorder is to forget the littering
NEVER = (0, 0)  # a compared file's times before a run, so that it shows whether it was written
CONFIRMING_RUNS = 2  # under glibc, after a difference: does glibc itself repeat the first output?


class Laboratory:
    """Holds the launcher, a scratch folder, and the output of each job's first run.

    `left_out` says by label why an optional contender takes no part; `remarks` has a sentence for
    each label under which a run wrote to its standard error and the first run did not, or the other
    way round.
    """

    def __init__(
        self,
        settings: Settings,
        launcher: Launcher,
        scratch: Path,
        evidence: Path,
        fresh: bool = False,
    ) -> None:
        """Outputs that differ are kept in `evidence`.

        `fresh`: it is made only then, under another name if there is one already.
        """
        self._settings = settings
        self._launcher = launcher
        self._ageing = Ageing(settings, launcher, scratch, evidence)
        self._scratch = scratch
        self._evidence = evidence
        self._fresh = fresh
        self._first: dict[Job, Output] = {}
        self._native: dict[Job, Contender] = {}  # of the first run
        self.left_out: dict[str, str] = {}
        self.remarks: dict[str, str] = {}
        self._huge_freed = -SETTLE

    def measure(self, job: Job, contender: Contender) -> Sample:
        """One fresh process.

        TrialFailed if its output is not that of the first one, or if the first one failed.
        LitterFailed if its heap was not aged as the contender asks for.
        """
        run, output = self._run(job, contender)
        self._check(job, contender, output)
        aged = contender.litter is not None
        runtime = self._runtime_report(run.pid) if contender.reports else {}
        log = self._ageing.log(_program(job, contender).name, run.pid) if aged else None
        sample = replace(
            self._sample(run, runtime, log),
            status=output.exit_status,
            stderr_bytes=output.stderr_bytes,
        )
        if sample.huge_bytes:
            self._huge_freed = time.monotonic()
        return sample

    def _run(self, job: Job, contender: Contender) -> tuple[Run, Output]:
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
        target = _program(job, contender)
        argv = [target.name, *job.arguments]
        if contender.settles:
            time.sleep(max(0.0, self._huge_freed + SETTLE - time.monotonic()))
        run = self._launcher.run(target.path, argv, environment, streams)
        failed = bool(run.ending.signal) or self._is_unexpected(job, run.ending.exit_status)
        return run, Output(
            exit_status=0 if run.ending.signal else run.ending.exit_status,
            signal=run.ending.signal,
            stdout_bytes=streams.stdout.stat().st_size,
            stdout_sha256=digest(streams.stdout),
            files_sha256=()
            if failed
            else tuple((str(path), _written(path)) for path in job.compared),
            stderr_bytes=streams.stderr.stat().st_size,
        )

    def _is_unexpected(self, job: Job, status: int) -> bool:
        """Then the files that it was to write are of no interest, and need not be there."""
        first = self._first.get(job)
        return status not in job.allowed if first is None else status != first.exit_status

    def _streams(self, job: Job) -> Streams:
        stdin = job.stdin or Path(os.devnull)
        return Streams(stdin, self._scratch / "stdout", self._scratch / "stderr")

    def _sample(self, run: Run, runtime: dict[str, Any], log: LitterLog | None) -> Sample:
        wall = run.wall - float(runtime.get("report_seconds", 0.0))
        faults = run.minor_faults
        if log is None:
            times = (wall, run.user, run.system)
            return Sample(*times, run.peak_memory, runtime, run.counters, minor_faults=faults)
        if log.program_seconds is not None:
            wall = log.program_seconds  # it ends before the runtime reports
        else:
            wall -= log.seconds
        # The kernel counts processor time more coarsely than a short program takes.
        user = max(0.0, run.user - log.user_seconds)
        system = max(0.0, run.system - log.system_seconds)
        memory = run.peak_memory
        return Sample(
            wall, user, system, memory, runtime, run.counters, log.raw, minor_faults=faults
        )

    def sample(self, perf: str, job: Job, contender: Contender) -> tuple[Path, float]:
        """One run under perf: the samples, and when the program began, in monotonic seconds.

        The contender must have settings of litter: it is the litterer that tells when.
        """
        data = self._scratch / "perf.data"
        environment = self._ageing.environment(job, contender)
        streams = self._streams(job)
        target = _program(job, contender)
        argv = [target.name, *job.arguments]
        run_under(perf, self._launcher, target.path, argv, environment, streams, data)
        return data, self._ageing.only_log(target.name).program_start

    def simulate(self, job: Job, contender: Contender) -> Profile:
        """One run with its caches and TLBs simulated, from where the program begins on.

        The contender must have settings of litter, as in `sample`.
        """
        environment = {**self._ageing.environment(job, contender), RECORDED: "1"}
        target = _program(job, contender)
        inside = replace(job, target=target)
        found = simulated_profile(self._settings, inside, environment, self._scratch)
        self._ageing.only_log(target.name)
        return found

    def output(self, job: Job) -> Output | None:
        """The output that every run of this job must have."""
        return self._first.get(job)

    def _check(self, job: Job, contender: Contender, output: Output) -> None:
        first = self._first.get(job)
        if first is None:
            self._check_first(job, contender, output)
            return
        difference = first.difference(output, job.ignore_output)
        if difference:
            self._fail(job, contender, difference)
        if bool(first.stderr_bytes) != bool(output.stderr_bytes):
            self._remark(job, contender, bool(output.stderr_bytes))

    def _check_first(self, job: Job, contender: Contender, output: Output) -> None:
        """The first run decides whether there is anything to measure."""
        if output.signal:
            self._fail_first(job, contender, f"died by signal {output.signal}", "fix that first")
        if output.exit_status not in job.allowed:
            status = output.exit_status
            way_out = f"fix that first, or measure it all the same with --allow-status {status}"
            self._fail_first(job, contender, f"ended with status {status}", way_out)
        self._first[job] = output
        self._native[job] = contender
        for stream in STREAMS:
            shutil.copyfile(self._scratch / stream, self._first_stream(job, stream))

    def _fail_first(self, job: Job, contender: Contender, ending: str, way_out: str) -> NoReturn:
        for stream in STREAMS:
            self._keep(self._scratch / stream, f"failed.{stream}")
        if job.stdin is None and ignored_input():
            way_out = (
                "its standard input was empty, for halo's own is not passed on: give it with"
                " --stdin FILE"
            )
        words = last_words(self._scratch / "stderr")
        raise ProgramFailed(
            f"{shown(job)} {ending} on its first run under {contender.label},"
            f" {so_far(contender)}{words}; {way_out}."
        )

    def _fail(self, job: Job, contender: Contender, difference: str) -> NoReturn:
        """Blames the contender only if glibc repeats the first output."""
        for stream in STREAMS:
            os.replace(self._scratch / stream, self._scratch / f"different.{stream}")
        unsteady = difference if contender == self._native[job] else self._native_difference(job)
        if contender.optional and not unsteady:
            raise ContenderFailed(difference)
        for stream in STREAMS:
            self._keep(self._scratch / f"different.{stream}", f"different.{stream}")
            self._keep(self._first_stream(job, stream), f"first.{stream}")
        if unsteady:
            raise TrialFailed(
                f"{shown(job)} does something else each time under glibc itself, without halo:"
                f" {unsteady}; {remedy(unsteady)} (both are kept in {self._evidence})."
            )
        raise TrialFailed(
            f"The output of {job.target.name} under {contender.label} is not that of its first run"
            f" under glibc: {difference}; both are kept in {self._evidence}."
        )

    def _native_difference(self, job: Job) -> str:
        """How another run of the first contender differs from the first run; empty: it does not."""
        for _ in range(CONFIRMING_RUNS):
            _, output = self._run(job, self._native[job])
            difference = self._first[job].difference(output, job.ignore_output)
            if difference:
                return difference
        return ""

    def _remark(self, job: Job, contender: Contender, wrote: bool) -> None:
        who = f"Under {contender.label}, {job.target.name} wrote"
        what = (
            f" to its standard error, unlike in its first run{last_words(self._scratch / 'stderr')}"
        )
        self.remarks.setdefault(contender.label, f"{who}{'' if wrote else ' nothing'}{what}.")

    def _first_stream(self, job: Job, stream: str) -> Path:
        return self._scratch / f"first-{list(self._first).index(job)}.{stream}"

    def _keep(self, stream: Path, name: str) -> None:
        """Copies a stream to the evidence."""
        if self._fresh:
            self._evidence, self._fresh = fresh_folder(self._evidence), False
        self._evidence.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(stream, self._evidence / name)

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


def _program(job: Job, contender: Contender) -> Target:
    return contender.program or job.target


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _written(path: Path) -> str:
    if not path.is_file() or path.stat().st_mtime_ns == NEVER[1]:
        raise BadInput(f"The program did not write {path}, which --compare names; check the path.")
    return digest(path)
