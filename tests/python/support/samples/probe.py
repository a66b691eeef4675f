"""A probe with given times."""

from __future__ import annotations

from pathlib import Path

from halo.base.schema.trial import Trial
from halo.binary.process.allocators import Allocator
from halo.measure.probe import RANDOM, SINGLE, Probe


def samples(*times: float) -> list[Trial]:
    return [Trial(time, time, 0.0, 1000) for time in times * 7]


def measured(best: float, drawn: float, single: float) -> Probe:
    allocator = Allocator("jemalloc", Path("/lib/libjemalloc.so.2"))
    rounds = {"jemalloc": samples(best), RANDOM: samples(drawn), SINGLE: samples(single)}
    return Probe(allocator, {"jemalloc": samples(best), "glibc": samples(9.0)}, rounds)
