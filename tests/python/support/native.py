"""Builds and records small programs for the engine `native`."""

from __future__ import annotations

from pathlib import Path

from halo.record.profile import Profile, read_profile
from support.command import compile_c, halo
from support.recordings import tells_only_its_file


def record(
    folder: Path, *words: str | Path, engine: str = "native", stdin: str = "", status: int = 0
) -> tuple[Profile, str]:
    """The profile of a program, and its output; `words` may begin with options and `--`."""
    path = folder / f"{engine}.profile"
    command = [str(word) for word in (words if "--" in words else ("--", *words))]
    outcome = halo("record", "--engine", engine, "-o", str(path), *command, stdin=stdin)
    assert outcome.status == status, outcome.stderr
    if status == 0:
        assert tells_only_its_file(outcome.stderr, path), outcome.stderr
    return read_profile(path), outcome.stdout


def build(folder: Path, source: str, *flags: str) -> Path:
    return compile_c(source, folder / "prog", "-fno-builtin-malloc", "-fno-builtin-free", *flags)
