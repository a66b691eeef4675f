"""The form of a refusal: one sentence, the documented status, and no new files."""

from __future__ import annotations

from pathlib import Path

from support.command import Outcome, halo

USAGE, CANNOT_RUN, UNSUITABLE, MISSING, BAD_PROFILE, BAD_PLAN, BAD_INPUT = range(111, 118)


def refused(outcome: Outcome, status: int, words: str) -> None:
    assert outcome.status == status, outcome.stderr
    assert outcome.stdout == ""
    assert words in outcome.stderr
    lines = outcome.stderr.splitlines()
    assert len(lines) == 1, "exactly one sentence"
    assert lines[0].startswith("halo: ")
    assert "Traceback" not in outcome.stderr


def check(folder: Path, status: int, words: str, *arguments: str, **environment: str) -> None:
    """Calls halo in the folder; it must refuse and leave the folder as it was."""
    before = sorted(folder.rglob("*"))
    outcome = halo(*arguments, cwd=folder, env=environment)
    refused(outcome, status, words)
    assert sorted(folder.rglob("*")) == before
