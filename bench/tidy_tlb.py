"""Misses of the second TLB in the traversal of rbtree: nodes placed by payloads, and hints ignored.

The tree has as many nodes as on the reference input, and fewer look-ups. A run of rbtree-tidy-keys
is recorded, which logs its hints. Tidy's own heap places its objects, and the look-ups are replayed
on the caches of a processor with a second TLB. Ends with status 1 if the threshold is missed.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tidy_forecast import PHASES, job_of, trace_traversal

from halo.base.settings import read_settings
from halo.record.simulation import machine_text
from halo.studies.layouts.replays import ReplayOptions, replay

NAME = "rbtree"
INPUT = ("800000", "400000", "100000", "1")
MACHINE = "x86-48k-12"
LEVEL = "STLB"
MAX_OVER_IGNORED = 0.75


def main() -> int:
    settings = read_settings()
    job = replace(job_of(settings, f"{NAME}-tidy-keys"), arguments=INPUT)
    with tempfile.TemporaryDirectory(prefix="halo-tlb-") as scratch:
        folder = Path(scratch)
        traced = trace_traversal(settings, job, PHASES[NAME], "hinted", folder)
        options = ReplayOptions(machine=machine_text(Path(MACHINE)), keys_by_address=traced.keys)
        recorded, ignored, hinted = replay(settings, traced.trace, options, folder).replays
    for label, one in (("malloc", recorded), ("ignored", ignored), ("hinted", hinted)):
        print(f"{NAME} {label:8} cycles {one.cycles / 1e6:8.1f} M  {LEVEL} {one.misses[LEVEL]:9}")
    over = hinted.misses[LEVEL] / ignored.misses[LEVEL]
    print(f"{LEVEL} over hints ignored: {over:.2f} (at most {MAX_OVER_IGNORED})")
    return int(over > MAX_OVER_IGNORED)


if __name__ == "__main__":
    sys.exit(main())
