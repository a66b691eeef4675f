"""Simulates the heap's part in the misses of the seven bundled programs (Yardımcı and Kaeli).

heap_shape.py simulate FOLDER [NAME...]   runs what FOLDER/NAME.json is missing, on training inputs
heap_shape.py check FOLDER                tests the thresholds on the files in FOLDER

The machine is alpha21264, and all heap objects are tracked. Files have totals and the most
expensive code. `check` ends with status 1 if a threshold is missed: the heap has a larger share of
the misses than of the accesses in six programs (table 1), and a share of the misses of 256 KiB and
2 ways at least as large as of 8 KiB in five (figure 1). It also compares the sweep with the
simulated first cache, which has one of the sweep's shapes.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

from bench.shared.halo_runs import run_halo
from bench.shared.keep_results import keep_simulation
from halo.base.schema.simulation import SweptCache
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.report.results.simulations import LARGEST, HeapSimulation, read_heap_simulations
from halo.studies.conflicts.figures.cache_sweep import heap_share
from halo.studies.conflicts.figures.heap_misses import shares_of

PROGRAMS = ("hospital", "scene", "mst", "mesh", "pagerank", "rbtree", "server")
MACHINE = "alpha21264"
CPU = 0
ALLOCATOR = re.compile("malloc|calloc|free|tcache|unlink_chunk|operator (new|delete)")
MIN_LARGER_SHARES = 6  # programs
MIN_GROWING_SHARES = 5  # programs
SMALL, LARGE = 8 << 10, 256 << 10  # bytes


def simulate(settings: Settings, name: str, file: Path) -> None:
    """One simulated run, on one processor."""
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    command = [str(training.target.path), *training.arguments]
    options = ["--machine", MACHINE, "--sweep", "--max-object", str(LARGEST), "--rows", "0"]
    with tempfile.TemporaryDirectory(prefix="halo-heap-shape-") as folder:
        result = Path(folder) / "simulated.json"
        run_halo(
            "eval", "simulate", *options, "--json", str(result), "--", *command, env=bundled.env
        )
        keep_simulation(result, file, code=True)


def cache_of(run: HeapSimulation, size: int, ways: int) -> SweptCache:
    """A cache of the sweep."""
    assert run.document.sweep is not None
    return next(it for it in run.document.sweep.caches if (it.bytes, it.ways) == (size, ways))


def sweep_agrees(run: HeapSimulation) -> bool:
    """Whether the sweep has as many misses as the first cache of the machine."""
    found = run.document
    first = found.machine.caches[0]
    swept = cache_of(run, first.sets * first.ways * found.machine.line, first.ways)
    outside = found.outside.misses[first.name]
    return (swept.heap, swept.outside) == (found.misses[first.name] - outside, outside)


def allocator_misses(run: HeapSimulation) -> float:
    """Misses of the first cache in the allocator's code, per cent of those outside the heap."""
    found = run.document
    first = found.machine.caches[0].name
    mine = sum(it.misses[first] for it in found.code if ALLOCATOR.search(it.place))
    return 100 * mine / max(1, found.outside.misses[first])


def check(folder: Path) -> bool:
    """Prints what each program shows; returns whether the thresholds are met."""
    runs = read_heap_simulations([folder / f"{name}.json" for name in PROGRAMS])
    larger = growing = 0
    agree = True
    for run in runs:
        shares = shares_of(run)
        small, large = (
            [heap_share(cache_of(run, size, ways)) for ways in (1, 2, 4, 8)]
            for size in (SMALL, LARGE)
        )
        larger += shares.misses > shares.accesses
        growing += large[1] >= small[1]
        agree &= sweep_agrees(run)
        print(
            f"{run.program}: heap {shares.accesses:.1f} % of accesses, {shares.misses:.1f} % of"
            f" misses; the allocator's code has {allocator_misses(run):.0f} % of the number outside"
            f" the heap; by ways, {', '.join(f'{it:.1f}' for it in small)} % of those of 8 KiB and"
            f" {', '.join(f'{it:.1f}' for it in large)} % of those of 256 KiB"
        )
    print(f"larger share of misses: {larger} of {len(runs)}; grows with size: {growing}")
    if not agree:
        print("the sweep and the first cache do not agree")
    return agree and larger >= MIN_LARGER_SHARES and growing >= MIN_GROWING_SHARES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("simulate", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    if given.what == "check":
        return 0 if check(given.folder) else 1
    os.sched_setaffinity(0, {CPU})
    settings = read_settings()
    for name in given.names or PROGRAMS:
        if not (given.folder / f"{name}.json").exists():
            print(f"simulating {name}", flush=True)
            simulate(settings, name, given.folder / f"{name}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
