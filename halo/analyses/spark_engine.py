"""Apache Spark as an engine: the same SQL over the same files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halo.analyses.analysis import Queries, Table
from halo.analyses.engine import REPORT_TABLES, Answers, Sources
from halo.analyses.schema import TABLES
from halo.analyses.spark_session import start_session
from halo.errors import BadInput

_TYPES = {"int64": "BIGINT", "int32": "INT", "int8": "TINYINT", "bool": "BOOLEAN"}


def spark_schema(table: str) -> str:
    """The columns of a table as Spark writes them."""
    schema = TABLES["sites" if table == "all_sites" else table]
    columns = (f"`{item.name}` {_TYPES.get(str(item.type), 'STRING')}" for item in schema)
    return ", ".join(columns)


class SparkEngine:
    """Spark in local mode, started by the first engine of a process and stopped with it."""

    name = "spark"

    def __init__(self, folder: Path, memory: str, threads: int = 0, session: Any = None) -> None:
        self._owned = session is None
        self.session = session or start_session(folder, spark_memory(memory), threads)

    def run(self, queries: Queries, sources: Sources) -> Answers:
        """The answers; BadInput where the files cannot be read."""
        try:
            self._view("accesses", self._rows("accesses", sources.files.get("accesses", ())))
            if queries.keep:
                self._view("kept", self.session.sql(queries.keep))
                narrowed = f"{queries.keep_key} IN (SELECT * FROM kept)"
                self._view("accesses", self.session.sql(f"SELECT * FROM accesses WHERE {narrowed}"))
            return self.report(queries, sources, self.session.sql(queries.reduce))
        except Exception as error:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise BadInput(f"Spark cannot read the columns: {cause_of(error)}.") from error
            raise

    def report(self, queries: Queries, sources: Sources, reduced: Any) -> Answers:
        """The later stage alone, over what the first has reduced."""
        for table in REPORT_TABLES:
            self._view(table, self._rows(table, sources.files.get(table, ())))
        # A checkpoint is computed once, and forgets how: plans of plans would outgrow the memory.
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


def spark_memory(memory: str) -> str:
    """An amount of memory as Spark writes it: 2GB is 2g."""
    return memory.strip().replace(" ", "").rstrip("B").rstrip("i").lower()


def cause_of(error: Exception) -> str:
    """The first line of Java's own words, where the error comes from there."""
    java = getattr(error, "java_exception", None)
    return str(java.toString() if java else error).partition("\n")[0].rstrip(".")
