"""What an engine is: it runs an analysis' SQL over the Parquet files of a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.analyses.analysis import Queries, Table
from halo.errors import UsageError

# The tables that a report reads beside `reduced`; `all_sites` has those too that fail the filters.
REPORT_TABLES = ("sites", "all_sites", "fields", "allocations", "frees", "trace")


@dataclass(frozen=True)
class Sources:
    """The Parquet files of each table; an empty list is an empty table."""

    files: Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class Answers:
    """What the report said, and each of the details."""

    report: Table
    details: Mapping[str, Table]


_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
LEAST_MEMORY = 64_000_000


def memory_bytes(text: str) -> int:
    """An amount of memory as users write it: 2GB, 512MiB; UsageError where it is none."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"--memory '{text}' is no amount of memory; say for instance 2GB.")
    number, unit, binary = found.groups()
    size = _UNITS[unit.upper()]
    if binary:
        size = 1024 ** list(_UNITS).index(unit.upper())
    amount = int(float(number) * size)
    if amount < LEAST_MEMORY:
        raise UsageError(f"--memory {text} is too little; no engine works with less than 64MB.")
    return amount


class Engine(Protocol):
    """Runs queries; is closed when done with."""

    name: str

    def run(self, queries: Queries, sources: Sources) -> Answers: ...

    def close(self) -> None: ...
