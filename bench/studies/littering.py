"""Checks that littering reproduces the recorded sizes, and its cost: `littering.py [NAME ...]`.

For each bundled program the sizes of its reference run are detected. A program with its own malloc
then counts the littered objects, and 10 million objects are littered under each allocator.

Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators, preload
from halo.measure.aging import Litter, detect_environment, read_detection, read_log
from halo.measure.bundled import Bundled, find_bundled, prepare
from halo.measure.runs.job import Job

USUAL = ("hospital", "scene", "xsltproc")
OCCUPANCIES = (0.5, 0.75, 0.9, 0.95, 0.99)
MAX_DIFFERENCE = 0.01  # of a size's share, all sizes together, and of the occupancy
OBJECTS = 10_000_000
MAX_SECONDS = 10.0
MAX_BYTES = 16.0  # of the litterer's own memory per object
TRIALS = 11


def run(job: Job, environment: dict[str, str]) -> None:
    stdin = job.stdin or Path(os.devnull)
    with stdin.open("rb") as stream:
        subprocess.run(
            [job.target.path, *job.arguments],
            env=environment,
            stdin=stream,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def distribution(settings: Settings, data: Path, name: str) -> bool:
    """Prints the difference of kept and recorded sizes at each occupancy; whether all are met."""
    met = True
    for occupancy in OCCUPANCIES:
        check = settings.build / "bin" / "halo-litter-check"
        command = [str(check), str(data), str(occupancy), "1", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        again = subprocess.run(command, capture_output=True, text=True, check=True)
        numbers = [float(text) for text in re.findall(r"[\d.]+", done.stdout)]
        kept, objects, found, maximum, total = numbers[:5]
        print(
            f"{name}: occupancy {occupancy}: {kept:.0f} of {objects:.0f} objects stay"
            f" ({found:.6f}); shares of sizes differ by {maximum:.4f} % at most,"
            f" {total:.4f} % in sum"
        )
        same = done.stdout.splitlines()[:2] == again.stdout.splitlines()[:2]
        met &= abs(found - occupancy) <= MAX_DIFFERENCE and total <= 100 * MAX_DIFFERENCE and same
    return met


def cost(settings: Settings, job: Job, data: Path, name: str, folder: Path) -> bool:
    """One line an allocator: what littering with 10 million objects takes."""
    met = True
    max_live = read_detection(data).max_live_allocations
    for allocator in baseline_allocators():
        logs = []
        for _ in range(TRIALS):
            litter = Litter(0.5, OBJECTS / max_live, data=data)
            base = preload(dict(os.environ), [allocator.library])
            log = folder / "log.json"
            run(job, litter.environment(base, settings.litterer, job.target.path, log))
            logs.append(read_log(log, name))
        seconds = sorted(log.seconds for log in logs)
        objects = logs[0].raw["objects"]
        own = logs[0].raw["own_bytes"] / objects
        print(
            f"{name}: {objects} objects over {allocator.name}: {median(seconds):.2f} s"
            f" ({seconds[0]:.2f} to {seconds[-1]:.2f}), {own:.1f} bytes of our own an object"
        )
        met &= seconds[-1] < MAX_SECONDS and own <= MAX_BYTES
    return met


def show(settings: Settings, program: Bundled, folder: Path) -> bool:
    train, reference = prepare(settings, program)
    data = folder / "detector.out"
    environment = {**os.environ, **program.env}
    path = reference.target.path
    run(reference, detect_environment(environment, settings.detector, path, data))
    kept = distribution(settings, data, program.name)
    return cost(settings, train, data, program.name, folder) and kept


def main() -> int:
    settings = read_settings()
    met = True
    for name in sys.argv[1:] or USUAL:
        with tempfile.TemporaryDirectory(prefix="halo-littering-") as folder:
            met &= show(settings, find_bundled(settings, name), Path(folder))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
