"""Costs of the paper's own mechanism, stepping, and of placement by pages: time, pairs, memory."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from configurations import make_configs
from interleaved import Configuration, interleave

from halo.base.settings import Settings
from halo.binary.process.allocators import find_allocator
from halo.binary.process.target import locate_target
from halo.measure.runs.job import Job
from halo.measure.runs.launcher import Launcher, Run, Streams
from halo.measure.statistics import summarize
from halo.plan import drawing_plan, read_plan, write_plan

PATTERNS = ("pair", "batch")
PAIR_TRIALS = 5
REPEATS = "1"
MAX_OBJECT = 16384
CPU = 0  # that all timed runs are pinned to


@dataclass(frozen=True)
class Cost:
    """What a configuration costs a program; `pairs` are ns of a malloc and a free, by pattern."""

    runs: Sequence[Run]
    pairs: Mapping[str, float]
    peak_memory: int  # bytes

    @property
    def seconds(self) -> list[float]:
        """Processor time of the runs: other programs of the machine do not count."""
        return [run.user + run.system for run in self.runs]

    def cells(self) -> str:
        """Seconds with quartiles, ns of a pair by pattern, MB."""
        spread = summarize(self.seconds)
        pairs = [f"{self.pairs[it]:.0f}" if it in self.pairs else "-" for it in PATTERNS]
        seconds = f"{spread.median:.3f} ({spread.first_quartile:.3f}-{spread.third_quartile:.3f})"
        return " | ".join([seconds, *pairs, f"{self.peak_memory / 1e6:.2f}"])


def costs(
    settings: Settings, job: Job, plans: Mapping[str, Path], size: int, trials: int, folder: Path
) -> dict[str, Cost]:
    """The costs by configuration: glibc, and the plans over glibc. `size`: bytes of an object."""
    glibc = find_allocator("glibc")
    over = {name: (plan, glibc) for name, plan in plans.items()}
    configs = make_configs(settings, job, {}, [glibc], over)
    runs = run_interleaved(configs, trials, folder)
    pairs = pairs_of(settings, plans, size, folder)
    return {
        config.label: Cost(runs[config.label], pairs.get(config.label, {}), peak_of(config))
        for config in configs
    }


def peak_of(config: Configuration) -> int:
    """Peak memory of one run, in bytes, as last seen before it ends.

    The usage that the kernel reports afterwards is at least that of the process that started it.
    """
    peak = 0
    with subprocess.Popen(
        config.command, env=config.environment, stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            peak = next((int(it.split()[1]) for it in lines if it.startswith("VmHWM")), peak)
            time.sleep(0.005)
    return peak * 1024


def run_interleaved(
    configs: Sequence[Configuration], trials: int, folder: Path
) -> dict[str, list[Run]]:
    """Runs by configuration, without the warm-up round; all outputs have to be the same."""
    found: dict[str, list[Run]] = {config.label: [] for config in configs}
    nothing, output = Path("/dev/null"), folder / "output"
    printed: set[bytes] = set()
    with Launcher(CPU) as launcher:
        for trial in range(trials + 1):
            for config in random.sample(configs, len(configs)):
                command = [str(it) for it in config.command]
                streams = Streams(nothing, output, nothing)
                run = launcher.run(Path(command[0]), command, config.environment, streams)
                printed.add(output.read_bytes())
                if run.ending.exit_status or len(printed) > 1:
                    sys.exit(f"{config.label} fails, or prints something else than the others")
                if trial:
                    found[config.label].append(run)
    return found


def pairs_of(
    settings: Settings, plans: Mapping[str, Path], size: int, folder: Path
) -> dict[str, dict[str, float]]:
    """Median ns of a pair, by configuration and pattern, of a program that only allocates.

    All its objects are in one group with the settings of the plan's first group. A plan without
    groups has no entry.
    """
    glibc = find_allocator("glibc")
    over = {}
    for name, path in plans.items():
        groups = read_plan(path).groups
        if groups:
            one = folder / f"pairs-{name}.plan"
            write_plan(drawing_plan(groups[:1], MAX_OBJECT, 0, None), one)
            over[name] = (one, glibc)
    target = locate_target(str(settings.build / "bench" / "pair"), settings.environment)
    job = Job(target, ("time", "1", REPEATS, str(size)))
    configs = make_configs(settings, job, {}, [glibc], over)
    found: dict[str, dict[str, list[float]]] = {config.label: {} for config in configs}
    for trial, label, _, output in interleave(configs, PAIR_TRIALS):
        for line in output.splitlines() if trial else ():
            pattern, _, value = line.split()
            found[label].setdefault(pattern, []).append(float(value))
    return {
        label: {pattern: statistics.median(values) for pattern, values in by_pattern.items()}
        for label, by_pattern in found.items()
    }
