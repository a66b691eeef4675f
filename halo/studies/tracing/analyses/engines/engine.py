"""The interface of engines, which run an analysis' SQL over the Parquet files of a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.base.errors import UsageError
from halo.studies.tracing.analyses.analysis import Queries, Table

# The tables that a report reads beside `reduced`; `all_sites` ignores the filters.
REPORT_TABLES = ("sites", "all_sites", "fields", "allocations", "frees", "trace")


@dataclass(frozen=True)
class Sources:
    """The Parquet files of each table; an empty list is an empty table."""

    files: Mapping[str, Sequence[Path]]


@dataclass(frozen=True)
class Answers:
    """The tables of the report and of each detail."""

    report: Table
    details: Mapping[str, Table]


_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
MIN_MEMORY = 64_000_000


def memory_bytes(text: str) -> int:
    """Parses an amount of memory such as 2GB or 512MiB, in bytes; `UsageError` if it is invalid."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([KMGT]?)(i?)B?", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"--memory '{text}' is not an amount of memory; write for instance 2GB.")
    number, unit, binary = found.groups()
    size = _UNITS[unit.upper()]
    if binary:
        size = 1024 ** list(_UNITS).index(unit.upper())
    amount = int(float(number) * size)
    if amount < MIN_MEMORY:
        raise UsageError(f"--memory {text} is too little; no engine works with less than 64MB.")
    return amount


class Engine(Protocol):
    """Runs queries; callers close it."""

    name: str

    def run(self, queries: Queries, sources: Sources) -> Answers: ...

    def close(self) -> None: ...
