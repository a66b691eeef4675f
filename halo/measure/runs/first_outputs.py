"""Compares what runs write with what the first run of their job wrote."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from halo.base.errors import TrialFailed
from halo.base.files.atomic import copy_file
from halo.measure.folders import fresh_folder
from halo.measure.runs.failures import (
    ConfigurationFailed,
    ProgramFailed,
    command_of,
    is_quoted,
    last_words,
    remedy,
    so_far,
)
from halo.measure.runs.job import Configuration, Job, Output
from halo.measure.runs.standard_input import ignored_input
from halo.measure.services.service_trial import LOAD_ERRORS

STREAMS = ("stdout", "stderr")
CONFIRMING_RUNS = 2  # under glibc, after a difference: does glibc itself repeat the first output?


class FirstOutputs:
    """The output of each job's first run, with which those of later runs are compared.

    What the latest run wrote is in the folder `scratch`, in files that are named as STREAMS.
    Differing outputs are kept in the folder `evidence`. If `fresh`, it is created only then, under
    another name if it exists already. `repeat` runs a job once more. `remarks` has a sentence for
    each label under which a run wrote to its standard error and the first run did not, or the other
    way round.
    """

    def __init__(
        self,
        scratch: Path,
        evidence: Path,
        fresh: bool,
        repeat: Callable[[Job, Configuration], Output],
    ) -> None:
        self._scratch = scratch
        self._evidence = evidence
        self._fresh = fresh
        self._repeat = repeat
        self._first: dict[Job, Output] = {}
        self._native: dict[Job, Configuration] = {}  # of the first run
        self.remarks: dict[str, str] = {}

    def of(self, job: Job) -> Output | None:
        """The output that every run of this job must have; None before the first run."""
        return self._first.get(job)

    def native(self, job: Job) -> Configuration:
        """The configuration of the first run."""
        return self._native[job]

    def difference(self, job: Job, output: Output) -> str:
        """How an output differs from that of the first run; empty if it does not."""
        return self._first[job].difference(output, job.ignore_output)

    def check(self, job: Job, config: Configuration, output: Output) -> None:
        """Raises `TrialFailed` if it differs from that of the first run, or if that run failed."""
        first = self._first.get(job)
        if first is None:
            self._check_first(job, config, output)
            return
        difference = self.difference(job, output)
        if difference:
            self._fail(job, config, difference, output.failure is not None)
        if bool(first.stderr_bytes) != bool(output.stderr_bytes):
            self._remark(job, config, bool(output.stderr_bytes))

    def _check_first(self, job: Job, config: Configuration, output: Output) -> None:
        """Raises `ProgramFailed` if the first run failed."""
        if output.failure is not None:
            kept = self._keep_failed(job)
            raise ProgramFailed(
                f"{command_of(job)} cannot be measured: on its first run under {config.label},"
                f" {so_far(config)}, {output.failure.what}{output.failure.words};"
                f" {output.failure.way_out}{kept}."
            )
        if output.signal:
            self._fail_first(job, config, f"died by signal {output.signal}", "fix that first")
        if output.exit_status not in job.allowed:
            status = output.exit_status
            way_out = f"fix that first, or measure it all the same with --allow-status {status}"
            self._fail_first(job, config, f"ended with status {status}", way_out)
        self._first[job] = output
        self._native[job] = config
        for stream in STREAMS:
            shutil.copyfile(self._scratch / stream, self._first_stream(job, stream))

    def _fail_first(self, job: Job, config: Configuration, ending: str, way_out: str) -> NoReturn:
        kept = self._keep_failed(job)
        if job.stdin is None and ignored_input():
            way_out = (
                "its standard input was empty, for halo's own is not passed on: give it with"
                " --stdin FILE"
            )
        words = last_words(self._scratch / "stderr")
        raise ProgramFailed(
            f"{command_of(job)} {ending} on its first run under {config.label},"
            f" {so_far(config)}{words}; {way_out}{kept}."
        )

    def _keep_failed(self, job: Job) -> str:
        """Keeps what the run wrote, unless the message has all of it; says where."""
        others = ["stdout", *([LOAD_ERRORS] if job.service else [])]
        stderr = self._scratch / "stderr"
        if is_quoted(stderr) and not any((self._scratch / it).stat().st_size for it in others):
            return ""
        for stream in ("stderr", *others):
            self._keep(self._scratch / stream, f"failed.{stream}")
        return f"; its output is kept in {self._evidence}"

    def _fail(
        self, job: Job, config: Configuration, difference: str, is_unusable: bool
    ) -> NoReturn:
        """Blames the configuration only if the native one repeats the first output."""
        native = self._native[job].label
        for stream in STREAMS:
            os.replace(self._scratch / stream, self._scratch / f"different.{stream}")
        unsteady = difference if config == self._native[job] else self._difference_of_repeats(job)
        if config.optional and not unsteady:
            raise ConfigurationFailed(difference)
        for stream in STREAMS:
            self._keep(self._scratch / f"different.{stream}", f"different.{stream}")
            self._keep(self._first_stream(job, stream), f"first.{stream}")
        if unsteady:
            raise TrialFailed(
                f"{command_of(job)} differs from run to run under {native} itself, without halo:"
                f" {unsteady}; {remedy(unsteady)} (both are kept in {self._evidence})."
            )
        if is_unusable:
            raise TrialFailed(
                f"{command_of(job)} fails under {config.label}, and not under {native}:"
                f" {difference}; the output of both is kept in {self._evidence}."
            )
        raise TrialFailed(
            f"The output of {job.target.name} under {config.label} is not that of its first run"
            f" under {native}: {difference}; both are kept in {self._evidence}."
        )

    def _difference_of_repeats(self, job: Job) -> str:
        """The difference of a new run of the first configuration to the first run, or ''."""
        for _ in range(CONFIRMING_RUNS):
            output = self._repeat(job, self._native[job])
            difference = self.difference(job, output)
            if difference:
                return difference
        return ""

    def _remark(self, job: Job, config: Configuration, wrote: bool) -> None:
        who = f"Under {config.label}, {job.target.name} wrote"
        what = (
            f" to its standard error, unlike in its first run{last_words(self._scratch / 'stderr')}"
        )
        self.remarks.setdefault(config.label, f"{who}{'' if wrote else ' nothing'}{what}.")

    def _first_stream(self, job: Job, stream: str) -> Path:
        return self._scratch / f"first-{list(self._first).index(job)}.{stream}"

    def _keep(self, stream: Path, name: str) -> None:
        """Copies a stream to the evidence."""
        if self._fresh:
            self._evidence, self._fresh = fresh_folder(self._evidence), False
        self._evidence.mkdir(parents=True, exist_ok=True)
        copy_file(stream, self._evidence / name)
