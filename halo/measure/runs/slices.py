"""Runs of a round in time slices: one process at a time runs, for a moment, and the others wait.

The speed of a shared machine changes within tenths of a second: other machines use its caches and
its memory. Runs one after another meet different speeds, and runs in slices meet the same ones.
So the ratios of their times vary less, up to eight times (docs/measuring.md).

Programs are suited that only compute, in one thread, and of which two at a time do not disturb each
other. One run under `halo-effects` tells; two, if it creates files, whose names must differ then.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from halo.base.errors import HaloError
from halo.base.schema.trial import Trial
from halo.measure.racing.clock import only_computes
from halo.measure.runs.job import Configuration, Job, Output, digest
from halo.measure.runs.launcher import Launcher, Streams
from halo.measure.runs.single_run import run_in_slices
from halo.record.producer import CommandLine

SLICE = 0.05  # seconds in the mean (docs/decisions/0026-time-slices.md)
SHORTEST = 4 * SLICE  # seconds of a run that has slices
MEMORY = 0.5  # share of the available memory that the processes of a round may use
SLOWER = 10  # times the first run's time, after a second, that a watched run may take
SPARE = 1.5  # times the memory of the first run, for other allocators and plans
KERNELS = {"page-faults"}  # a counter that does not say how the processor runs

Item = TypeVar("Item")


class Watched(msgspec.Struct):
    """What `halo-effects` writes (src/recorder/effects/main.cc)."""

    effect: str
    status: int
    created: list[str]


def unsuited(
    tool: Path,
    launcher: Launcher,
    job: Job,
    native: Configuration,
    first: Sequence[Trial],
    output: Output,
    scratch: Path,
) -> str:
    """Why runs of a job have no slices, as a clause; empty if they have.

    `first`: its first runs, under `native`, which had that output. Runs it once or twice more.
    """
    if job.service or job.prepare or job.cleanup or job.compared:
        return "each run needs a state of its own"
    if native.litter is not None:
        return "each run ages its heap first"
    if min(trial.wall for trial in first) < SHORTEST:
        return "its runs are short"
    if not all(map(only_computes, first)):
        return "it does not only compute, in one thread"
    if launcher.read_counters().keys() - KERNELS:
        return "the processor's counters count one program at a time"
    watch = partial(_watch, tool, launcher, job, native, scratch, 1 + SLOWER * first[0].wall)
    try:
        found = watch(output)
        if found.created and not found.effect:
            again = watch(output)
            same = sorted(set(found.created) & set(again.created))
            found.effect = again.effect or (f"openat {same[0]}" if same else "")
    except (HaloError, OSError, msgspec.MsgspecError):
        return "it cannot be watched here"
    return (
        f"two runs at a time might disturb each other: it calls {found.effect}"
        if found.effect
        else ""
    )


def _watch(
    tool: Path,
    launcher: Launcher,
    job: Job,
    native: Configuration,
    scratch: Path,
    limit: float,
    output: Output,
) -> Watched:
    """A run under `halo-effects`. Raises `HaloError` if it is not as the first one was."""
    path = scratch / "effects.json"
    path.unlink(missing_ok=True)
    words = [tool.name, str(path), str(job.target.path), job.target.name, *job.arguments]
    streams = Streams(
        job.stdin or Path(os.devnull), scratch / "watched.stdout", scratch / "watched.stderr"
    )
    command = CommandLine(tool, words, native.environment)
    if isinstance(run_in_slices(launcher, [(command, streams)], [SLICE], limit), int):
        raise HaloError("it did not end")
    found = msgspec.json.decode(path.read_bytes(), type=Watched)
    is_same = job.ignore_output or digest(streams.stdout) == output.stdout_sha256
    if found.status != (-output.signal or output.exit_status) or not is_same:
        raise HaloError("it did something else")
    return found


def processes_that_fit(peak_memory: int) -> int:
    """How many processes of such a peak, in bytes, may live at once; at least one."""
    return max(1, int(MEMORY * available_memory() / (SPARE * max(1, peak_memory))))


def even_parts(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    """The items in as few parts as possible, each of at most `most`."""
    if not items:
        return []
    parts = -(-len(items) // most)
    ends = [number * len(items) // parts for number in range(parts + 1)]
    return [items[begin:end] for begin, end in itertools.pairwise(ends)]


def available_memory() -> float:
    """Bytes that new processes may use: of the machine, and of the control groups of this one."""
    found = float(_meminfo().get("MemAvailable", 0)) * 1024
    for folder, names in _control_groups():
        try:
            limit, used = ((folder / f"memory.{it}").read_text() for it in names)
        except OSError:
            continue
        if limit.strip().isdigit():
            found = min(found, float(limit) - float(used))
    return max(0.0, found)


def _meminfo() -> Mapping[str, int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(rest.split()[0]) for name, _, rest in (it.partition(":") for it in lines)}


def _control_groups() -> Sequence[tuple[Path, tuple[str, str]]]:
    """The folders of this process's control group and those around it, with the files to read.

    A container may see another path than its own, but its group at the top.
    """
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, own = line.split(":", 2)
        if not controllers:
            top, names = Path("/sys/fs/cgroup"), ("max", "current")
        elif "memory" in controllers.split(","):
            top, names = Path("/sys/fs/cgroup/memory"), ("limit_in_bytes", "usage_in_bytes")
        else:
            continue
        group = Path(own.lstrip("/"))
        found += [(top / part, names) for part in (group, *group.parents)]
    return found


def slices(seconds: Sequence[float]) -> list[float]:
    """The slice of each run, so that runs of such lengths end at about the same time."""
    usual = sum(seconds) / len(seconds)
    return [SLICE * each / usual for each in seconds]
