"""Programs under plans of their own: compile, record, plan, run with the two variables."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.plan.runtimes import runtime_of
from support.command import BUILD, halo

RUNTIME = BUILD / "lib" / "libhalo.so"
EXTRA_RUNTIME = BUILD / "lib" / "libhalo-extra.so"
CHECKING_RUNTIME = BUILD / "lib" / "libhalo-check.so"


@dataclass(frozen=True)
class Run:
    """What a run under the runtime left; `stats` is what HALO_STATS wrote."""

    status: int
    stdout: str
    stderr: str
    stats: dict[str, Any]

    @property
    def allocations(self) -> list[int]:
        return [group["allocations"] for group in self.stats["groups"]]


def compile_program(folder: Path, source: str, *flags: str, name: str = "prog") -> Path:
    """Compiles C++ where the source includes a header without `.h`, C otherwise."""
    language = "c++" if "#include <new>" in source or "#include <stdexcept>" in source else "c"
    output = folder / name
    compiler = "g++" if language == "c++" else "gcc"
    keep = ["-fno-inline", "-fno-optimize-sibling-calls", "-fno-allocation-dce"]
    command = [compiler, "-O2", "-w", *keep, "-x", language, "-", "-o", str(output), *flags]
    subprocess.run(command, input=source, text=True, check=True)
    return output


def make_plan(folder: Path, command: list[str], strategy: str = "per-site", *options: str) -> Path:
    """Records the command and plans; every accessed context is considered."""
    profile, plan = folder / "prog.profile", folder / "prog.plan"
    recorded = halo("record", "--exact", "-o", str(profile), "--", *command)
    assert recorded.status == 0, recorded.stderr
    planned = halo("plan", str(profile), "--strategy", strategy, *options, "-o", str(plan))
    assert planned.status == 0, planned.stderr
    return plan


def run_planned(
    command: list[str],
    plan: Path,
    runtime: Path | None = None,
    env: Mapping[str, str] | None = None,
    **more: Any,
) -> Run:
    """Runs the command natively with the two variables of a deployment.

    `runtime` is the library that halo would choose for the plan, unless another one is given.
    """
    stats = plan.with_suffix(".stats")
    stats.unlink(missing_ok=True)
    done = subprocess.run(
        command,
        env={
            **os.environ,
            "LD_PRELOAD": str(runtime or runtime_of(RUNTIME, plan)),
            "HALO_PLAN": str(plan),
            "HALO_STATS": str(stats),
            **(env or {}),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        **more,
    )
    report = json.loads(stats.read_text()) if stats.exists() else {}
    return Run(done.returncode, done.stdout, done.stderr, report)
