"""Runs programs under the runtime and its watch."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.command import BUILD
from support.planned import EXTRA_RUNTIME

WATCH = BUILD / "lib" / "libhalo-watch.so"
CACHE = 2 << 20
TIMEOUT = 120  # seconds


@dataclass(frozen=True)
class Watched:
    """What a run under the watch left; negative statuses are signals."""

    status: int
    stdout: str
    report: dict[str, Any]
    stats: dict[str, Any]


@dataclass(frozen=True)
class Armed:
    """`tests/programs/watching/armed.c`, built, and a plan of its large objects."""

    program: Path
    plan: Path


def watched_environment(plan: Path, **variables: str) -> dict[str, str]:
    return {
        **os.environ,
        "LD_PRELOAD": f"{EXTRA_RUNTIME} {WATCH}",
        "HALO_PLAN": str(plan),
        "HALO_STATS": str(plan.with_suffix(".stats")),
        "HALO_WATCH": "1",
        "HALO_WATCH_CACHE": str(CACHE),
        "HALO_WATCH_REPORT": str(plan.with_suffix(".watch.json")),
        **variables,
    }


def run_watched(command: Sequence[str], plan: Path, **variables: str) -> Watched:
    """Runs the command, which must print nothing to standard error."""
    return finish_watched(start_watched(command, plan, None, **variables), plan)


def start_watched(
    command: Sequence[str],
    plan: Path,
    before: Callable[[], None] | None = None,
    **variables: str,
) -> subprocess.Popen[str]:
    """Starts the command; `before` is called in the child."""
    for name in (".stats", ".watch.json"):
        plan.with_suffix(name).unlink(missing_ok=True)
    return subprocess.Popen(
        command,
        env=watched_environment(plan, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def finish_watched(process: subprocess.Popen[str], plan: Path) -> Watched:
    """Waits for the command, and for all that have its standard output."""
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert stderr == ""
    left = [plan.with_suffix(name) for name in (".watch.json", ".stats")]
    found = [json.loads(path.read_text()) if path.exists() else {} for path in left]
    return Watched(process.returncode, stdout, *found)
