"""What an engine is: it runs an analysis' SQL over the Parquet files of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from halo.analyses.analysis import Queries, Table

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


class Engine(Protocol):
    """Runs queries; is closed when done with."""

    name: str

    def run(self, queries: Queries, sources: Sources) -> Answers: ...

    def close(self) -> None: ...
