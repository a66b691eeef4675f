"""A job (a program on one input), the configurations that it is run under, and the samples."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from halo.binary.process.target import Target
from halo.measure.aging import Litter
from halo.measure.runs.launcher import Failure
from halo.measure.services.service import Service


@dataclass(frozen=True)
class Job:
    """A program on one input; `compared` are the files it writes, besides its standard output.

    A run with a status that is not `allowed` has failed; with `ignore_output` the standard
    output is not compared. A `service` has a load, whose output is compared. `timeout` is the
    user's limit of a run, in seconds. `prepare` and `cleanup` are shell commands around each run.
    """

    target: Target
    arguments: tuple[str, ...]
    stdin: Path | None = None
    compared: tuple[Path, ...] = ()
    allowed: frozenset[int] = frozenset({0})
    ignore_output: bool = False
    service: Service | None = None
    timeout: float | None = None
    prepare: str = ""
    cleanup: str = ""

    @property
    def command(self) -> list[str]:
        return [self.target.name, *self.arguments]


def job_options(job: Job) -> list[str]:
    """The job's options as quoted words of a command line."""
    return [shlex.quote(word) for word in option_words(job)]


def cpu_option(cpu: int | None) -> list[str]:
    """The option of a command whose runs are on that processor."""
    return [] if cpu is None else ["--cpu", str(cpu)]


def option_words(job: Job) -> list[str]:
    """The options with which a command has this job."""
    words = ["--stdin", str(job.stdin)] if job.stdin else []
    for path in job.compared:
        words += ["--compare", str(path)]
    for status in sorted(job.allowed - {0}):
        words += ["--allow-status", str(status)]
    words += ["--ignore-output"] if job.ignore_output else []
    words += ["--timeout", f"{job.timeout:g}"] if job.timeout else []
    words += ["--prepare", job.prepare] if job.prepare else []
    words += ["--cleanup", job.cleanup] if job.cleanup else []
    return words + (job.service.options() if job.service else [])


def run_step(halo: str, options: Sequence[str], job: Job) -> str:
    """`halo run` with this input for both, as no other one is known; with the quoted options."""
    command = shlex.join(job.command)
    train = [] if job.service else [command, "--"]
    return " ".join([halo, "run", *options, "--", *train, command])


def redirection(job: Job) -> str:
    """What a shell command needs to have the job's standard input, after a space."""
    return f" <{shlex.quote(str(job.stdin))}" if job.stdin else ""


def repeat_options(
    reference: Job, train: Job | None = None, litter: Litter | None = None
) -> list[str]:
    """The options of a command that measures these jobs, as words."""
    words = option_words(reference)
    if train is not None and train.stdin and train.stdin != reference.stdin:
        words += ["--train-stdin", str(train.stdin)]
    if train is not None and train.service and train.service != reference.service:
        words += ["--train-load", str(train.service.load)]
    return words + (["--litter", litter.option()] if litter else [])


@dataclass(frozen=True)
class Configuration:
    """A configuration: a label, and an environment to run a job in.

    `program` replaces the job's own, and must print the same; `litter` ages its heap. If it is
    `optional`, rounds continue without it if it cannot run the job.
    """

    label: str
    environment: Mapping[str, str]
    reports: bool = False  # the runtime writes its statistics
    needs_cooldown: bool = False  # starts only after the cool-down of earlier runs with huge pages
    program: Target | None = None
    litter: Litter | None = None
    optional: bool = False


@dataclass(frozen=True)
class Output:
    """The output of a run, equal in all runs; `stderr_bytes` is not compared.

    A run with a `failure` differs from one without.
    """

    exit_status: int
    signal: int
    stdout_bytes: int
    stdout_sha256: str
    files_sha256: tuple[tuple[str, str], ...]
    stderr_bytes: int = field(default=0, compare=False)
    failure: Failure | None = field(default=None, compare=False)

    def compared(self, ignore_output: bool) -> dict[str, Any]:
        """The fields that `difference` compares, as JSON."""
        unseen = {"stderr_bytes", "failure"}
        unseen |= {"stdout_bytes", "stdout_sha256"} if ignore_output else set()
        found = {key: value for key, value in asdict(self).items() if key not in unseen}
        return {**found, "files_sha256": [list(pair) for pair in self.files_sha256]}

    def difference(self, other: Output, ignore_output: bool = False) -> str:
        """The first difference as text; empty if there is none."""
        if other.failure is not None:
            return f"{other.failure.what}{other.failure.words}"
        if self.signal != other.signal:
            return f"{_ending(other)} instead of {_ending(self)}"
        if self.exit_status != other.exit_status:
            return f"exit status {other.exit_status} instead of {self.exit_status}"
        if self.stdout_sha256 != other.stdout_sha256 and not ignore_output:
            sizes = f"{other.stdout_bytes} and {self.stdout_bytes} bytes"
            return f"another standard output ({sizes})"
        for (path, mine), (_, others) in zip(self.files_sha256, other.files_sha256, strict=True):
            if mine != others:
                return f"another content of {path}"
        return ""


def _ending(output: Output) -> str:
    if output.signal:
        return f"death by signal {output.signal}"
    return f"exit status {output.exit_status}"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
