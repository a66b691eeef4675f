"""Runs a program under a producer, in the foreground."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from halo.base.settings import Settings
from halo.binary.process.foreground import run_in_foreground
from halo.record.parts import Recording, gather_parts
from halo.record.producer import Producer, RecordingJob


def record(
    producer: Producer,
    settings: Settings,
    job: RecordingJob,
    folder: Path,
    tick: Callable[[], None],
) -> Recording:
    """Runs the job transparently: on our own streams, with our signals forwarded."""
    start = time.perf_counter()
    with producer.session(settings, job, folder) as command:
        ending = run_in_foreground(
            str(command.path), list(command.arguments), command.environment, tick
        )
    seconds = time.perf_counter() - start
    producer.judge(job, ending, folder)
    return Recording(ending, tuple(gather_parts(folder)), seconds)
