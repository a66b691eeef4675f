"""Compares modelled cycles of Tidy's placement: predicted, of real runs, and with times.

tidy_forecast.py [NAME...]   without names: mesh, pagerank and rbtree

For each control of the variant's hints, NAME-tidy-keys is recorded, which logs its hints, and the
model places its objects by Tidy's own heap. NAME-tidy is recorded, too, and replayed at the
addresses that its objects had. Both count the traversal of the training input, on this machine's
caches. Times are of the same traversals, interleaved; the first round is dropped. Ends with status
1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from interleaved import Configuration
from tidy import CONTROLS, HINTED, IGNORED, measure

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.measure.runs.job import Job
from halo.record.registry import find_producer
from halo.report.results.agreement import rank_correlation
from halo.studies.layouts.recording import Run, find_phase, record_objects
from halo.studies.layouts.replays import ReplayOptions, replay

PHASES = {
    "mesh": "(anonymous namespace)::walk",
    "pagerank": "(anonymous namespace)::iterate",
    "rbtree": "rbtree::Tree::find",
}
MAX_ERROR = 0.03  # of the prediction for the variant with its hints
MIN_AGREEMENT = 0.8  # rank correlation of times and predictions, relative to each program's means


@dataclass(frozen=True)
class Forecast:
    """A traversal: modelled cycles, predicted and of the real run, and the median time."""

    label: str
    predicted: int
    real: int
    seconds: float

    @property
    def error(self) -> float:
        return self.predicted / self.real - 1


def job_of(settings: Settings, name: str) -> Job:
    return prepare(settings, find_bundled(settings, name))[0]


@dataclass(frozen=True)
class Traced:
    """The object trace of a run with a phase, and the file of the hints that it logged."""

    trace: Path
    keys: Path


def trace_traversal(settings: Settings, job: Job, phase: str, hints: str, folder: Path) -> Traced:
    """Records a program with those hints in `folder`, in the place of an earlier one."""
    found = Traced(folder / "program.objects", folder / "keys")
    found.trace.unlink(missing_ok=True)
    found.keys.write_text("")
    variables = {"HALO_BENCH_KEYS": str(found.keys), **chosen(hints)}
    changed = replace(settings, environment={**settings.environment, **variables})
    run = Run(job.target, list(job.arguments), find_phase(job.target, phase))
    engine = find_producer(settings, everything=True)
    with tempfile.TemporaryDirectory(dir=folder) as parts, silent_output():
        record_objects(engine, changed, run, found.trace, Path(parts))
    return found


def cycles_of(
    settings: Settings, name: str, phase: str, hints: str, packing: str, folder: Path
) -> int:
    """The modelled cycles of the traversal of a program that is recorded with those hints.

    `packing` is `recorded`, or a placement of the objects whose keys the program logs.
    """
    traced = trace_traversal(settings, job_of(settings, name), phase, hints, folder)
    # A recording has the accesses of malloc, or of the real Tidy.
    options = ReplayOptions(packing=packing, keys_by_address=traced.keys, own_accesses=True)
    (replayed,) = replay(settings, traced.trace, options, folder).replays
    return replayed.cycles


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


def chosen(hints: str) -> Mapping[str, str]:
    return {} if hints == HINTED else {"HALO_BENCH_HINTS": hints}


def forecast(settings: Settings, name: str, trials: int, folder: Path) -> list[Forecast]:
    labels = (HINTED, *CONTROLS)
    predicted, real = {}, {}
    for label in labels:
        # Without hints there are no keys: the others' objects are placed as if they had none.
        logged = HINTED if label == IGNORED else label
        packing = "hints-ignored" if label == IGNORED else "hinted"
        phase, keyed = PHASES[name], f"{name}-tidy-keys"
        predicted[label] = cycles_of(settings, keyed, phase, logged, packing, folder)
        real[label] = cycles_of(settings, f"{name}-tidy", phase, label, "recorded", folder)
    job = job_of(settings, f"{name}-tidy")
    command: list[str | Path] = [job.target.path, *job.arguments]
    configs = [Configuration(it, command, {**settings.environment, **chosen(it)}) for it in labels]
    seconds = measure(configs, trials).traversal
    return [Forecast(it, predicted[it], real[it], statistics.median(seconds[it])) for it in labels]


def agreement(found: Mapping[str, list[Forecast]]) -> float:
    """The rank correlation over all traversals, each relative to the mean of its program."""
    modelled: list[float] = []
    measured: list[float] = []
    for rows in found.values():
        cycles = statistics.fmean(it.predicted for it in rows)
        seconds = statistics.fmean(it.seconds for it in rows)
        modelled += [it.predicted / cycles for it in rows]
        measured += [it.seconds / seconds for it in rows]
    return rank_correlation(modelled, measured)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11)
    given = parser.parse_args()
    settings = read_settings()
    found: dict[str, list[Forecast]] = {}
    print("| Program | hints | predicted, M cycles | real, M cycles | error, % | traversal, s |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in given.names or PHASES:
        with tempfile.TemporaryDirectory(prefix="halo-forecast-") as folder:
            found[name] = forecast(settings, name, given.trials, Path(folder))
        for it in found[name]:
            print(
                f"| {name} | {it.label} | {it.predicted / 1e6:.1f} | {it.real / 1e6:.1f} |"
                f" {100 * it.error:+.1f} | {it.seconds:.3f} |",
                flush=True,
            )
    errors = [abs(it.error) for rows in found.values() for it in rows if it.label == HINTED]
    agreed = agreement(found)
    print(f"\nRank correlation of predictions and times: {agreed:.2f}")
    return 0 if max(errors) <= MAX_ERROR and agreed >= MIN_AGREEMENT else 1


if __name__ == "__main__":
    sys.exit(main())
