"""What is measured: a job (a program on one input), the contenders that run it, and the samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from halo.aging import Litter
from halo.target import Target


@dataclass(frozen=True)
class Job:
    """A program on one input; `compared` are the files it writes, besides its standard output.

    A run with a status that is not `allowed` has failed; `ignore_output` compares no standard
    output.
    """

    target: Target
    arguments: tuple[str, ...]
    stdin: Path | None = None
    compared: tuple[Path, ...] = ()
    allowed: frozenset[int] = frozenset({0})
    ignore_output: bool = False

    @property
    def command(self) -> list[str]:
        return [self.target.name, *self.arguments]


@dataclass(frozen=True)
class Contender:
    """One way to run a job: a label, and the environment that makes it so.

    `program` runs in the place of the job's own, and must print the same; `litter` ages its heap.
    `optional`: rounds go on without it if it cannot run the job.
    """

    label: str
    environment: Mapping[str, str]
    reports: bool = False  # the runtime writes its statistics
    settles: bool = (
        False  # starts only when the huge pages of earlier runs have long been given back
    )
    program: Target | None = None
    litter: Litter | None = None
    optional: bool = False


@dataclass(frozen=True)
class Output:
    """All that a run must have in common with the first one; `stderr_bytes` only shows."""

    exit_status: int
    signal: int
    stdout_bytes: int
    stdout_sha256: str
    files_sha256: tuple[tuple[str, str], ...]
    stderr_bytes: int = field(default=0, compare=False)

    def compared(self, ignore_output: bool) -> dict[str, Any]:
        """What `difference` looks at, as JSON."""
        unseen = {"stderr_bytes"} | ({"stdout_bytes", "stdout_sha256"} if ignore_output else set())
        return {key: value for key, value in asdict(self).items() if key not in unseen}

    def difference(self, other: Output, ignore_output: bool = False) -> str:
        """The first difference, as words; empty if there is none."""
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


@dataclass(frozen=True)
class Sample:
    """One measured run, in seconds and bytes; `wall` is without the runtime's own report.

    `minor_faults` are page faults that read nothing from a disk, `counters` the events that this
    machine counts (counters.py). On a littered heap the times are without the littering, which
    `litter` tells of; the other figures are of all of the process. `status` is the exit status,
    `stderr_bytes` what it wrote to its standard error.
    """

    wall: float
    user: float
    system: float
    peak_memory: int
    runtime: Mapping[str, Any] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    litter: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    stderr_bytes: int = 0
    minor_faults: int = 0

    @property
    def huge_bytes(self) -> int:
        return int(self.runtime.get("huge_bytes", 0))
