"""Apache Spark as an engine: the same SQL over the same files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.analysis import Queries, Table
from halo.studies.tracing.analyses.engines.engine import (
    REPORT_TABLES,
    Answers,
    Sources,
    memory_bytes,
)
from halo.studies.tracing.analyses.engines.spark_session import start_session
from halo.studies.tracing.analyses.schema import TABLES

_TYPES = {"int64": "BIGINT", "int32": "INT", "int8": "TINYINT", "bool": "BOOLEAN"}


def spark_schema(table: str) -> str:
    """The columns of a table as a Spark schema."""
    schema = TABLES["sites" if table == "all_sites" else table]
    columns = (f"`{item.name}` {_TYPES.get(str(item.type), 'STRING')}" for item in schema)
    return ", ".join(columns)


class SparkEngine:
    """Spark in local mode, started by the first engine of a process and stopped with it."""

    name = "spark"

    def __init__(self, folder: Path, memory: str, threads: int = 0, session: Any = None) -> None:
        self._owned = session is None
        self.session = session or start_session(folder, f"{memory_bytes(memory) >> 20}m", threads)

    def run(self, queries: Queries, sources: Sources) -> Answers:
        """The answers; raises `BadInput` if the files cannot be read."""
        try:
            self._view("accesses", self._rows("accesses", sources.files.get("accesses", ())))
            if queries.keep:
                self._view("kept", self.session.sql(queries.keep))
                narrowed = f"{queries.keep_key} IN (SELECT * FROM kept)"
                self._view("accesses", self.session.sql(f"SELECT * FROM accesses WHERE {narrowed}"))
            return self.report(queries, sources, self.session.sql(queries.reduce))
        except Exception as error:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise BadInput(f"Spark cannot read the dataset: {cause_of(error)}.") from error
            raise

    def report(self, queries: Queries, sources: Sources, reduced: Any) -> Answers:
        """Runs the second stage alone, over the reduced rows of the first."""
        for table in REPORT_TABLES:
            self._view(table, self._rows(table, sources.files.get(table, ())))
        # A checkpoint is computed once and drops its query plan; nested plans would exhaust memory.
        self._view("reduced", reduced.localCheckpoint())
        for name, text in queries.steps.items():
            self._view(name, self.session.sql(text).localCheckpoint())
        return Answers(
            report=self._answer(queries.report),
            details={name: self._answer(text) for name, text in queries.details.items()},
        )

    def close(self) -> None:
        if self._owned:
            self.session.stop()

    def _rows(self, table: str, files: Sequence[Path]) -> Any:
        schema = spark_schema(table)
        if files:
            return self.session.read.schema(schema).parquet(*(str(path) for path in files))
        return self.session.createDataFrame([], schema)

    @staticmethod
    def _view(name: str, rows: Any) -> None:
        rows.createOrReplaceTempView(name)

    def _answer(self, text: str) -> Table:
        answer = self.session.sql(text)
        return Table(tuple(answer.columns), tuple(tuple(row) for row in answer.collect()))


def cause_of(error: Exception) -> str:
    """The first line of the Java exception's message, if the error has one."""
    java = getattr(error, "java_exception", None)
    return str(java.toString() if java else error).partition("\n")[0].rstrip(".")
