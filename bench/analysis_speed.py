"""Measures the events per second that each analysis processes, and its peak memory."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from synthetic_trace import write_trace

from halo.studies.tracing.analyses import (
    ANALYSES,
    Request,
    find_analysis,
    open_folder,
    run_analysis,
)


class Trial(NamedTuple):
    """Wall seconds without Python's start, processor seconds, and bytes of peak memory."""

    seconds: float
    cpu: float
    peak: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--addresses", type=int, default=1_000_000)
    parser.add_argument("--trials", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--folder", type=Path, help="a folder of columns to use, or to make")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options)
        return
    with tempfile.TemporaryDirectory() as tmp:
        options.folder = options.folder or Path(tmp) / "columns"
        if not options.folder.exists():
            write_trace(options.folder, options.events, options.addresses, threads=4)
        events = open_folder(options.folder).about().events
        measure(options, events)


def measure(options: argparse.Namespace, events: int) -> None:
    """Measures the analyses, interleaved, in fresh processes."""
    trials: dict[str, list[Trial]] = {analysis.name: [] for analysis in ANALYSES}
    for _ in range(options.trials):
        for name, taken in trials.items():
            taken.append(trial(options, name))
    print(f"{events:,} events, {options.engine}, {options.threads} threads, {options.memory}")
    for name, taken in trials.items():
        speeds = [events / one.seconds / 1e6 for one in taken]
        spread = ""
        if len(speeds) > 1:
            low, _, high = quantiles(speeds, n=4, method="inclusive")
            spread = f" (quartiles {low:.1f} to {high:.1f})"
        peak = max(one.peak for one in taken)
        cpu = median(one.cpu for one in taken)
        print(
            f"{name:12} {median(speeds):6.1f} M events/s{spread},"
            f" {cpu:.1f} s of processors, peak {peak / 1e6:,.0f} MB"
        )


def trial(options: argparse.Namespace, name: str) -> Trial:
    command = [sys.executable, __file__, "--one", name, "--folder", str(options.folder)]
    command += ["--threads", str(options.threads), "--memory", options.memory]
    command += ["--engine", options.engine]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, cpu, peak = done.stdout.split()
    return Trial(float(seconds), float(cpu), int(peak))


def run_one(options: argparse.Namespace) -> None:
    """Runs one analysis in this process; prints the fields of a Trial."""
    with tempfile.TemporaryDirectory() as tmp:
        request = Request(Path(tmp), options.engine, options.memory, options.threads)
        start, cpu = time.perf_counter(), time.process_time()
        run_analysis(find_analysis(options.one), open_folder(options.folder), request)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    # Not getrusage: a child of a large process inherits its peak.
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    print(seconds, cpu, int(peak.split()[1]) * 1024)


if __name__ == "__main__":
    main()
