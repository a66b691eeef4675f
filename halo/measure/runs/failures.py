"""Exceptions and messages for a run that failed or differs from the first one."""

from __future__ import annotations

import shlex
from pathlib import Path

from halo.base.errors import TrialFailed
from halo.measure.runs.job import Configuration, Job

LAST_LINES, LAST_CHARACTERS = 3, 300  # maximum quote of a standard error in a message
READ_BYTES = 4096


class ProgramFailed(TrialFailed):
    """The first run crashed, or ended with a status that is not allowed: nothing to compare."""


class Overdue(ProgramFailed):
    """A run, or the load of a service, was stopped at its time limit.

    `what` ran, and `limit` has its seconds and where they are from.
    """

    def __init__(self, what: str, limit: str, advice: str) -> None:
        super().__init__(f"{what} did not end within {limit}, and was stopped{advice}.")
        self.what = what
        self.limit = limit


class ConfigurationFailed(TrialFailed):
    """An optional configuration crashed, or its output differs from glibc's, whose runs agree."""


def command_of(job: Job) -> str:
    """The job's command line, truncated if it is long."""
    command = shlex.join(job.command)
    return command if len(command) <= LAST_CHARACTERS else f"{command[:LAST_CHARACTERS]}..."


def is_quoted(stderr: Path) -> bool:
    """Whether `last_words` has all of a run's standard error."""
    lines = _last_lines(stderr)
    is_short = len(lines) <= LAST_LINES and len(" / ".join(lines)) <= LAST_CHARACTERS
    return is_short and stderr.stat().st_size <= READ_BYTES


def _last_lines(stderr: Path) -> list[str]:
    with stderr.open("rb") as stream:
        stream.seek(max(0, stderr.stat().st_size - READ_BYTES))
        text = stream.read().decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def last_words(stderr: Path) -> str:
    """`: ` and the end of a run's standard error, for a message; empty if it is empty."""
    lines = _last_lines(stderr)[-LAST_LINES:]
    words = "".join(c if c.isprintable() else " " for c in " / ".join(lines)).rstrip(".")
    if len(words) > LAST_CHARACTERS:
        words = f"...{words[-LAST_CHARACTERS:]}"
    return f": {words}" if words else ""


def remedy(difference: str) -> str:
    """The remedy for a program whose output differs from run to run by itself."""
    if "standard output" in difference:
        return "measure it without comparing what it prints: --ignore-output"
    if difference.startswith("another content"):
        return "leave out --compare for that file"
    return "make it end in the same way each time"


def so_far(config: Configuration) -> str:
    """The extent of halo's influence on a first run."""
    if config.litter is None:
        return "before halo did anything"
    return "when halo had only aged its heap"
