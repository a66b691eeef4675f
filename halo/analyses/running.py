"""Runs an analysis over a folder of columns: filters, engine, findings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from halo.analyses.analysis import Analysis, Table, Value
from halo.analyses.duckdb_engine import DEFAULT_MEMORY, DuckDbEngine
from halo.analyses.engine import Answers, Engine, Sources
from halo.analyses.filters import Filters
from halo.analyses.folder import About, TraceFolder
from halo.analyses.schema import TABLES
from halo.errors import UsageError

ENGINES = ("duckdb", "spark")


@dataclass(frozen=True)
class Request:
    """How to run an analysis; `tmp` is a folder for what does not fit into memory."""

    tmp: Path
    engine: str = "duckdb"
    memory: str = DEFAULT_MEMORY
    threads: int = 0  # 0: as many as there are processors
    filters: Filters = field(default_factory=lambda: Filters({}))
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What an analysis says of a trace."""

    analysis: str
    about: About
    report: Table
    details: Mapping[str, Table]
    findings: tuple[str, ...]


def run_analysis(analysis: Analysis, folder: TraceFolder, request: Request) -> Answer:
    """The analysis' answer."""
    sources = sources_of(folder, request)
    queries = analysis.queries(request.parameters)
    with closing(make_engine(request)) as engine:
        return answer_of(analysis, folder.about(), engine.run(queries, sources))


def answer_of(analysis: Analysis, about: About, answers: Answers) -> Answer:
    """The answers with what they mean."""
    findings = tuple(analysis.findings(answers.report, answers.details))
    return Answer(analysis.name, about, answers.report, answers.details, findings)


def make_engine(request: Request) -> Engine:
    """The engine that is asked for."""
    if request.engine == "duckdb":
        return DuckDbEngine(request.tmp, request.memory, request.threads)
    if request.engine == "spark":
        # Imported here: nothing of Spark is needed by the other engine.
        from halo.analyses.spark_engine import SparkEngine

        return SparkEngine(request.tmp, request.memory, request.threads)
    raise UsageError(f"There is no engine '{request.engine}'; there are: {', '.join(ENGINES)}.")


def sources_of(folder: TraceFolder, request: Request) -> Sources:
    """The folder's files, with the filters applied to its sites."""
    files = {table: folder.files(table) for table in TABLES}
    files["all_sites"] = files["sites"]
    if request.filters:
        sites = request.tmp / "sites.parquet"
        pq.write_table(request.filters.select(folder.read("sites")), sites, compression="zstd")
        files["sites"] = [sites]
    return Sources(files)
