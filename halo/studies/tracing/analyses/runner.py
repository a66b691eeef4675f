"""Runs an analysis over a trace dataset: filters, engine, findings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from halo.base.errors import UsageError
from halo.studies.tracing.analyses.analysis import Analysis, Table, Value
from halo.studies.tracing.analyses.engines.duckdb import DEFAULT_MEMORY, DuckDbEngine
from halo.studies.tracing.analyses.engines.engine import Answers, Engine, Sources
from halo.studies.tracing.analyses.filters import Filters
from halo.studies.tracing.analyses.folder import About, TraceFolder
from halo.studies.tracing.analyses.schema import TABLES

ENGINES = ("duckdb", "spark")


@dataclass(frozen=True)
class Request:
    """Settings of a run; the engine spills to the folder `tmp`."""

    tmp: Path
    engine: str = "duckdb"
    memory: str = DEFAULT_MEMORY
    threads: int = 0  # 0: one per processor
    filters: Filters = field(default_factory=lambda: Filters({}))
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The result of an analysis: tables, and findings as sentences."""

    analysis: str
    about: About
    report: Table
    details: Mapping[str, Table]
    findings: tuple[str, ...]


def run_analysis(analysis: Analysis, folder: TraceFolder, request: Request) -> Answer:
    """The answer about a complete dataset; raises `BadInput` or `MissingPart`."""
    sources = sources_of(folder, request)
    queries = analysis.queries(request.parameters)
    with closing(make_engine(request)) as engine:
        return answer_of(analysis, folder.about(), engine.run(queries, sources))


def answer_of(analysis: Analysis, about: About, answers: Answers) -> Answer:
    """The engine's answers with the findings."""
    findings = tuple(analysis.findings(answers.report, answers.details))
    return Answer(analysis.name, about, answers.report, answers.details, findings)


def make_engine(request: Request) -> Engine:
    """The engine of the request; raises `UsageError` if there is none of that name."""
    if request.engine == "duckdb":
        return DuckDbEngine(request.tmp, request.memory, request.threads)
    if request.engine == "spark":
        # Imported here, as the other engine works without Spark.
        from halo.studies.tracing.analyses.engines.spark import SparkEngine

        return SparkEngine(request.tmp, request.memory, request.threads)
    raise UsageError(
        f"The engine '{request.engine}' does not exist; choose one of: {', '.join(ENGINES)}."
    )


def sources_of(folder: TraceFolder, request: Request) -> Sources:
    """The dataset's files, with the filters applied to its sites."""
    files = {table: folder.files(table) for table in TABLES}
    files["all_sites"] = files["sites"]
    if request.filters:
        sites = request.tmp / "sites.parquet"
        pq.write_table(request.filters.select(folder.read("sites")), sites, compression="zstd")
        files["sites"] = [sites]
    return Sources(files)
