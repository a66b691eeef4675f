"""The cases of stress.py: stress programs with their arguments, without the rest time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

PAIRS = 5_000_000  # of malloc and free in a run of the program `random`, about
LIVE = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000, "10m": 10_000_000}
PAIRS_OF_A_BLOCK = {"random": 1.0, "twelfth": 1 / 12, "reverse": 1.0, "survivors": 1.0}
"""Pairs in a round for each live block, by order."""


@dataclass(frozen=True)
class Case:
    """A program's arguments for a measurement, and tiny ones, of the same sizes, for training."""

    name: str
    program: str
    full: str
    tiny: str


def orders() -> Iterator[Case]:
    """Each order of frees, with 10^4 to 10^7 live blocks of 16 to 64 bytes."""
    for order, pairs in PAIRS_OF_A_BLOCK.items():
        for label, live in LIVE.items():
            rounds = max(1, round(PAIRS / (live * pairs)))
            full, tiny = (f"{order} {count} 16 64 1" for count in (f"{live} {rounds}", "2000 2"))
            yield Case(f"{order}-{label}", "random", full, tiny)


CASES = (
    Case("larson", "larson", "2 50000 16 1024 400000 10 1", "2 200 16 1024 400 3 1"),
    Case("xmalloc", "xmalloc", "1 1 6000000 16 256 1", "1 1 2000 16 256 1"),
    Case("cache-scratch", "cache-scratch", "2 100000 8 1000", "2 500 8 10"),
    Case("cache-thrash", "cache-thrash", "2 100000 8 1000", "2 500 8 10"),
    Case("churn", "churn", "200000 16 256 8000000 1", "1000 16 256 10000 1"),
    Case("sawtooth-all", "sawtooth", "1000000 16 512 4 0 1 1", "2000 16 512 2 0 1 1"),
    Case("sawtooth-runs", "sawtooth", "1000000 16 512 4 10 1000 1", "2000 16 512 2 10 10 1"),
    Case("sawtooth-scattered", "sawtooth", "1000000 16 512 4 10 1 1", "2000 16 512 2 10 1 1"),
    *orders(),
)


def choose_cases(names: list[str]) -> list[Case]:
    """The cases of those names, or of those programs; all without a name. Ends if one is wrong."""
    known = {case.name for case in CASES} | {case.program for case in CASES}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"there is no case {unknown[0]}; there are: {', '.join(sorted(known))}")
    return [case for case in CASES if not names or {case.name, case.program} & {*names}]
