"""Runs commands of halo, and programs under plans."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halo.measure.runs.job import Job


def run_halo(*arguments: str, env: Mapping[str, str]) -> None:
    """Runs a halo command; prints its output only if it fails."""
    command = [sys.executable, "-m", "halo", *arguments]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr.decode(errors='replace')}")


def run_planned(job: Job, env: Mapping[str, str], preload: str, plan: Path, stats: Path) -> bytes:
    """The output of a run under a plan, whose statistics are written to `stats`."""
    chosen = {"LD_PRELOAD": preload, "HALO_PLAN": str(plan), "HALO_STATS": str(stats)}
    command = [str(job.target.path), *job.arguments]
    done = subprocess.run(
        command, env={**os.environ, **env, **chosen}, capture_output=True, check=True
    )
    return done.stdout


def grouped(stats: Mapping[str, Any]) -> int:
    """The allocations from groups."""
    return sum(group["allocations"] for group in stats["groups"])
