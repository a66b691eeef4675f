"""How the time of the watch grows with the bytes that a program allocates (NightWatch, figure 15).

watch_growth.py [--share PERCENT]

`frames` runs under the watch with 10^4 times as many bytes in its pictures, in four steps. The time
of the watch is what its report states: how long threads waited for it. The exit status is 1 if the
most is above 100 times the least, as in the paper's figure, or if a run has no window at all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from watch_overhead import CACHE, plan_for

from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import find_allocator, under_plan
from halo.binary.process.watch import Watch

MAX_GROWTH = 100
TABLE = 4 << 20  # bytes
PICTURE = 2 << 20  # bytes; each is decoded, and converted into a second one
STEPS = ((10, 500_000_000), (1_000, 5_000_000), (10_000, 500_000), (100_000, 25_000))


@dataclass(frozen=True)
class Found:
    """Of one run: bytes of pictures, wall seconds, and what the watch reports."""

    allocated: int
    seconds: float
    waited: float  # seconds
    windows: int


def run(settings: Settings, plan: Path, report: Path, share: float, step: tuple[int, int]) -> Found:
    pictures, lookups = step
    environment = {
        **under_plan(
            settings.environment, settings.runtime, plan, find_allocator("glibc"), settings.watch
        ),
        **Watch(cache=CACHE, share=share, report=report).variables(),
    }
    program = str(settings.build / "bench" / "frames")
    command = [program, *map(str, (pictures, PICTURE, TABLE, lookups, 1))]
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    found = json.loads(report.read_text())
    return Found(2 * pictures * PICTURE, seconds, found["spent_us"] / 1e6, found["windows"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=5.0, help="per cent of the time (default 5)")
    share = parser.parse_args().share
    settings = read_settings()
    print("| Bytes | seconds | windows | of the watch, s |\n| ---: | ---: | ---: | ---: |")
    results = []
    with tempfile.TemporaryDirectory(prefix="halo-watch-") as folder:
        plan = plan_for(settings, "frames", Path(folder))
        for step in STEPS:
            one = run(settings, plan, Path(folder) / "report.json", share, step)
            results.append(one)
            print(
                f"| {one.allocated:.1e} | {one.seconds:.1f} | {one.windows} | {one.waited:.3f} |",
                flush=True,
            )
    growth = max(one.waited for one in results) / max(min(one.waited for one in results), 1e-6)
    bytes_growth = results[-1].allocated / results[0].allocated
    print(f"{growth:.1f} times the time of the watch for {bytes_growth:.0f} times the bytes.")
    return 0 if growth <= MAX_GROWTH and all(one.windows for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
