"""Sweeps the sizes of Tidy's buckets and of a fixed grid (Miucin, figures 3.11 to 3.13).

tidy_sweep.py simulate FOLDER [NAME...]   writes FOLDER/NAME.json: misses of the traversal
tidy_sweep.py time FOLDER [NAME...]       adds rounds of timed runs to them
tidy_sweep.py check FOLDER [NAME...]      prints how far the default is from the best of each sweep

The names are mesh, pagerank and rbtree. A run of NAME-tidy-keys is recorded, which logs its hints.
For each setting, Tidy's own heap places its objects, and the traversal is replayed on the machine
of the thesis. The grid is that of the thesis, with buckets of 4096 bytes. Timed are NAME-tidy and
NAME on the reference input, interleaved, in fresh processes; the first round is dropped. `check`
ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from bench.shared.interleaved import Configuration, Seconds
from bench.shared.keep_results import write_small
from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.measure.runs.job import Job
from halo.measure.runs.machine import processor
from halo.record.registry import find_producer
from halo.record.simulation import machine_text
from halo.studies.hints.figures.sweep_results import CYCLES, TIME, read_sweep
from halo.studies.hints.sweep_document import SweepDocument, SweptTraversal
from halo.studies.layouts.document import ReplayedLayout
from halo.studies.layouts.recording import Run, find_phase, record_objects
from halo.studies.layouts.replays import ReplayOptions, replay

MACHINE = "miucin"
PHASES = {
    "mesh": "(anonymous namespace)::walk",
    "pagerank": "(anonymous namespace)::iterate",
    "rbtree": "rbtree::Tree::find",
}
INPUTS = {
    "mesh": ("110", "110", "200000", "1"),
    "pagerank": ("12000", "120000", "2", "1"),
    "rbtree": ("100000", "60000", "10000", "1"),
}
"""Of the simulated runs: objects exceed the second cache and the TLB many times."""
DIMENSIONS = {"mesh": 2}
BUCKETS = tuple(64 << (2 * power) for power in range(6))  # bytes: 64 to 65536
CELLS = tuple(16 << (2 * power) for power in range(6))  # in all dimensions
GRID_BUCKET = 4096
MAX_OVER_BEST = 1.1  # of the default over the best of a sweep
PLAIN, IGNORED, DEFAULT = "plain", "ignored", "default"


@dataclass(frozen=True)
class Setting:
    """How Tidy is set: a size of buckets, or a number of cells with buckets of GRID_BUCKET."""

    bucket: int = 0
    cells: int = 0

    def variables(self, name: str) -> Mapping[str, str]:
        """For the programs NAME-tidy."""
        if not self.cells:
            return {"HALO_BENCH_BUCKET": str(self.bucket)}
        bins = round(self.cells ** (1 / DIMENSIONS.get(name, 1)))
        return {"HALO_BENCH_BINS": str(bins), "HALO_BENCH_BUCKET": str(GRID_BUCKET)}


SETTINGS = (*(Setting(bucket=it) for it in BUCKETS), *(Setting(cells=it) for it in CELLS))


@dataclass(frozen=True)
class Traced:
    """The object trace of a run with a phase, and the file of the hints that it logged."""

    trace: Path
    keys: Path


def trace_traversal(settings: Settings, job: Job, phase: str, folder: Path) -> Traced:
    found = Traced(folder / "program.objects", folder / "keys")
    found.keys.write_text("")
    variables = {"HALO_BENCH_KEYS": str(found.keys)}
    changed = replace(settings, environment={**settings.environment, **variables})
    run = Run(job.target, list(job.arguments), find_phase(job.target, phase))
    engine = find_producer(settings, everything=True)
    with tempfile.TemporaryDirectory(dir=folder) as parts, silent_output():
        record_objects(engine, changed, run, found.trace, Path(parts))
    return found


@contextmanager
def silent_output() -> Iterator[None]:
    """Discards what child processes print to our standard output."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


def simulate(settings: Settings, name: str) -> SweepDocument:
    """All settings of a program, not timed."""
    training, _ = prepare(settings, find_bundled(settings, f"{name}-tidy-keys"))
    job = replace(training, arguments=INPUTS[name])
    with tempfile.TemporaryDirectory(prefix="halo-sweep-") as scratch:
        folder = Path(scratch)
        traced = trace_traversal(settings, job, PHASES[name], folder)
        base = ReplayOptions(machine=machine_text(Path(MACHINE)), keys_by_address=traced.keys)
        found = replay(settings, traced.trace, base, folder).replays
        plain, ignored, default = (swept(0, it) for it in found)
        others = {}
        for one in SETTINGS:
            options = replace(base, packing="hinted", bucket=one.bucket)
            if one.cells:
                keys = keys_of_grid(
                    settings, [job.target.path, *job.arguments], one.variables(name), traced, folder
                )
                options = replace(
                    options, keys_by_address=keys, bucket=GRID_BUCKET, fixed_cells=True
                )
            (replayed,) = replay(settings, traced.trace, options, folder).replays
            others[one] = swept(one.bucket or one.cells, replayed)
    return SweepDocument(
        program=name,
        machine=MACHINE,
        simulated=INPUTS[name],
        timed=tuple(reference(settings, name)[1:]),
        plain=plain,
        ignored=ignored,
        default=default,
        buckets=tuple(it for one, it in others.items() if one.bucket),
        cells=tuple(it for one, it in others.items() if one.cells),
    )


def swept(size: int, replayed: ReplayedLayout) -> SweptTraversal:
    return SweptTraversal(size=size, cycles=replayed.cycles, misses=replayed.misses)


def keys_of_grid(
    settings: Settings,
    command: Sequence[str | Path],
    variables: Mapping[str, str],
    traced: Traced,
    folder: Path,
) -> Path:
    """The logged objects of the trace with the keys of a grid.

    They are those of another run, which allocates the same objects in the same order.
    """
    log, result = folder / "grid", folder / "grid-keys"
    environment = {**settings.environment, **variables, "HALO_BENCH_KEYS": str(log)}
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    result.write_text(merge_keys(traced.keys.read_text(), log.read_text()))
    return result


def merge_keys(traced: str, grid: str) -> str:
    """The addresses and sizes of one log (tidy_log.cc) with the keys of another."""
    lines = []
    for one, other in zip(traced.splitlines(), grid.splitlines(), strict=True):
        address, size, _ = one.split()
        _, same_size, key = other.split()
        if size != same_size:
            raise ValueError("the runs allocate different objects")
        lines.append(f"{address} {size} {key}\n")
    return "".join(lines)


def reference(settings: Settings, name: str) -> list[str]:
    """The program with its reference input."""
    job = prepare(settings, find_bundled(settings, name))[1]
    return [str(job.target.path), *job.arguments]


def timed_way(
    settings: Settings, name: str, label: str, variables: Mapping[str, str]
) -> Configuration:
    """A program on its reference input, which prints the seconds of its traversal."""
    environment = {**settings.environment, "HALO_BENCH_PHASES": "", **variables}
    return Configuration(label, reference(settings, name), environment)


def measure(configs: Sequence[Configuration], rounds: int) -> Seconds:
    """Processor seconds of the traversals, without those of a first round."""
    seconds: Seconds = {it.label: [] for it in configs}
    printed = set()
    for number in range(rounds + 1):
        for it in random.sample(configs, len(configs)):
            done = subprocess.run(it.command, env=it.environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{it.label} ended with {done.returncode}: {done.stderr.strip()}")
            printed.add(done.stdout)
            if number:
                seconds[it.label].append(float(done.stderr.split()[1]))
    if len(printed) > 1:
        sys.exit("not all configurations print the same")
    return seconds


def time(settings: Settings, document: SweepDocument, rounds: int) -> SweepDocument:
    """The document with more rounds, all on one processor."""
    name = document.program
    if document.processor not in ("", processor()):
        sys.exit(f"earlier rounds of {name} are of another processor, {document.processor}")
    hinted = f"{name}-tidy"
    configs = [
        timed_way(settings, name, PLAIN, {}),
        timed_way(settings, hinted, IGNORED, {"HALO_BENCH_HINTS": "ignored"}),
        timed_way(settings, hinted, DEFAULT, {}),
        *(timed_way(settings, hinted, str(it), it.variables(name)) for it in SETTINGS),
    ]
    seconds = measure(configs, rounds)

    def timed(one: SweptTraversal, label: str) -> SweptTraversal:
        return msgspec.structs.replace(one, seconds=(*one.seconds, *seconds[label]))

    return msgspec.structs.replace(
        document,
        processor=processor(),
        plain=timed(document.plain, PLAIN),
        ignored=timed(document.ignored, IGNORED),
        default=timed(document.default, DEFAULT),
        buckets=tuple(timed(it, str(Setting(bucket=it.size))) for it in document.buckets),
        cells=tuple(timed(it, str(Setting(cells=it.size))) for it in document.cells),
    )


def check(path: Path) -> bool:
    """Prints a line for each sweep; whether the default is near the best of all."""
    found = read_sweep(path)
    met = True
    for what in (CYCLES, *([TIME] if found.is_timed else [])):
        for label, points in (("buckets", found.document.buckets), ("cells", found.document.cells)):
            over = found.over_best(points, what)
            print(
                f"{found.program}: the default has {over:.2f} times the {what} of the best {label}"
            )
            met &= over <= MAX_OVER_BEST
    return met


def keep(file: Path, document: SweepDocument) -> None:
    write_small(file, msgspec.to_builtins(document))
    print(f"{file} written", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("simulate", "time", "check"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args()
    files = {name: given.folder / f"{name}.json" for name in given.names or PHASES}
    if given.what == "check":
        met = [check(file) for file in files.values()]
        return 0 if all(met) else 1
    settings = read_settings()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, file in files.items():
        if given.what == "simulate":
            keep(file, simulate(settings, name))
        else:
            keep(file, time(settings, read_sweep(file).document, given.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
