"""Compares the sampled interference of recordings with that measured at every use.

interference.py [NAME...]   default: the workloads whose objects compete for cache sets

Records each workload twice, with and without sampling (src/recorder/analysis/conflicts), and
compares the mean number of lines between two uses, for the pairs of states with the most conflict
misses. Ends with status 1 if a pair differs by more than a tenth.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conflicts import WORKLOADS, Workload, small

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.record.parts import Limits, workspace
from halo.record.producer import RecordingJob
from halo.record.profile import Profile, merge_parts
from halo.record.registry import find_producer
from halo.record.run import record
from halo.studies.conflicts.ranking import conflicts_of, ranked_pairs

PAIRS = 20
MAX_DIFFERENCE = 0.1
MACHINE = "this"


def recorded(settings: Settings, workload: Workload, every_use: bool) -> Profile:
    training, _ = prepare(settings, find_bundled(settings, workload.name))
    sinks: dict[str, int | str] = {"conflicts": MACHINE, "conflicts_every_use": int(every_use)}
    limits = Limits(max_object=16384, sinks=sinks)
    command = small(training, workload)
    with workspace() as folder:
        job = RecordingJob(training.target, command[1:], limits)
        recording = record(
            find_producer(settings, everything=True), settings, job, folder, lambda: None
        )
        return merge_parts(recording.parts, training.target.path, command[1:])


def compare(settings: Settings, workload: Workload) -> bool:
    """Prints the pairs; returns whether all are within the threshold."""
    name = Path(workload.name)
    exact = conflicts_of(recorded(settings, workload, every_use=True), name)
    sampled = conflicts_of(recorded(settings, workload, every_use=False), name)
    pairs = ranked_pairs(exact)[:PAIRS]
    within, misses, largest = 0, 0.0, 0.0
    for pair in pairs:
        found = sampled.interference.get((pair.first, pair.second), 0.0)
        difference = abs(found - pair.lines) / max(pair.lines, found, 1e-9)
        largest = max(largest, difference)
        if difference <= MAX_DIFFERENCE:
            within += 1
            misses += pair.misses
        print(
            f"  {pair.first:4} {pair.second:4}: {pair.misses:11,.1f} conflict misses,"
            f" {pair.lines:8.3f} lines at every use, {found:8.3f} sampled: {difference:.1%}"
        )
    share = misses / max(1e-9, sum(pair.misses for pair in pairs))
    print(
        f"{workload.name}: {within} of {len(pairs)} pairs within {MAX_DIFFERENCE:.0%}, with"
        f" {share:.2%} of the misses; the largest difference is {largest:.1%}",
        flush=True,
    )
    return within == len(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    settings = read_settings()
    chosen = [it for it in WORKLOADS if not given.names or it.name in given.names]
    met = [compare(settings, workload) for workload in chosen]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
