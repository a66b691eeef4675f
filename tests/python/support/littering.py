"""Programs under the two libraries that age heaps: LD_PRELOAD, variables, and what they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from halo.binary.process.allocators import baseline_allocators, preload
from support.command import BUILD, Outcome

DETECTOR = BUILD / "lib" / "libhalo-detector.so"
LITTERER = BUILD / "lib" / "libhalo-litterer.so"
HOSPITAL = [str(BUILD / "bench" / "hospital"), "3", "50", "1"]
ALLOCATORS = baseline_allocators()
PLAIN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("LD_PRELOAD", "HALO_", "DETECTOR_", "LITTER_"))
}


def default_signals() -> None:
    """In a child: a shell that runs the tests in the background makes it ignore some of these."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run(
    command: Sequence[str],
    libraries: Sequence[Path | None] = (),
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
) -> Outcome:
    """Runs the command with these libraries preloaded and nothing else of ours."""
    done = subprocess.run(
        command,
        env=preload(PLAIN, libraries) | dict(env or {}),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=default_signals,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def detect(
    command: Sequence[str],
    output: Path,
    more: Sequence[Path | None] = (),
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    cwd: Path | None = None,
) -> tuple[Outcome, dict[str, Any]]:
    """The outcome under the detector, and the file that it left."""
    variables = {"HALO_DETECTOR_FILENAME": str(output), **(env or {})}
    outcome = run(command, [DETECTOR, *more], variables, cwd, stdin)
    return outcome, json.loads(output.read_text())


def counts_of(detected: Mapping[str, Any]) -> Counter[int]:
    """How many objects of each size up to a page; those larger are of the size 4097."""
    return Counter({size: count for size, count in enumerate(detected["bins"]) if count})


def expected_file(sizes: Sequence[int], max_live: int) -> dict[str, Any]:
    """What the detector is to leave of these allocations, but for the program and the groups."""
    bins = [0] * 4098
    for size in sizes:
        bins[min(size, 4097)] += 1
    return {
        "format": "halo-detector",
        "version": 1,
        "allocations": len(sizes),
        "mean": sum(sizes) / max(len(sizes), 1),
        "minimum": min(sizes, default=0),
        "maximum": max(sizes, default=0),
        "max_live_allocations": max_live,
        "larger_bytes": sum(size for size in sizes if size > 4096),
        "bins": bins,
    }
