"""Follows a trace during its conversion: Structured Streaming over its growing dataset."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput
from halo.studies.tracing.analyses.analysis import Analysis
from halo.studies.tracing.analyses.engines.spark import SparkEngine, cause_of, spark_schema
from halo.studies.tracing.analyses.folder import TraceFolder
from halo.studies.tracing.analyses.runner import Answer, Request, answer_of, sources_of

POLL_INTERVAL = 0.2  # seconds


def follow(
    analysis: Analysis,
    folder: TraceFolder,
    request: Request,
    engine: SparkEngine,
    update: Callable[[Answer], None],
) -> Answer:
    """Calls `update` with each partial answer; returns the answer about the complete trace."""
    if not folder.path.is_dir():
        raise BadInput(f"{folder.path} is not a folder; `halo study trace convert` makes it.")
    while not folder.files("accesses") and not folder.finished:
        _check(folder)
        time.sleep(POLL_INTERVAL)
    return _Follower(analysis, folder, request, engine, update).run()


def _check(folder: TraceFolder) -> None:
    if not folder.path.is_dir():
        raise BadInput(f"{folder.path} is gone, as its conversion has failed; convert it again.")


class _Follower:
    """One stream; the report runs over a copy of the rows that it has reduced so far."""

    def __init__(
        self,
        analysis: Analysis,
        folder: TraceFolder,
        request: Request,
        engine: SparkEngine,
        update: Callable[[Answer], None],
    ) -> None:
        self._analysis, self._folder, self._request = analysis, folder, request
        self._engine, self._update = engine, update
        self._queries = analysis.queries(request.parameters)
        self._reduced: Path | None = None

    def run(self) -> Answer:
        (self._folder.path / "accesses").mkdir(exist_ok=True)
        session = self._engine.session
        rows = session.readStream.schema(spark_schema("accesses"))
        # An incomplete file has another suffix.
        rows = rows.option("pathGlobFilter", "*.parquet")
        accesses = rows.parquet(str(self._folder.path / "accesses"))
        accesses.createOrReplaceTempView("accesses")
        stream = (
            session.sql(self._queries.reduce)
            .writeStream.outputMode("complete")
            .foreachBatch(self._batch)
            .option("checkpointLocation", str(self._request.tmp / "checkpoint"))
            .start()
        )
        try:
            while not self._folder.finished:
                _check(self._folder)
                stream.awaitTermination(POLL_INTERVAL)
            stream.processAllAvailable()
        except Exception as error:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise BadInput(f"The stream has failed: {cause_of(error)}.") from error
            raise
        finally:
            stream.stop()
        return self._answer()

    def _batch(self, reduced: Any, number: int) -> None:
        place = self._request.tmp / f"reduced-{number}"
        reduced.write.option("compression", "zstd").parquet(str(place))
        self._reduced = place
        # Sites come before accesses that name them; without sites the conversion has just begun.
        if self._folder.files("sites"):
            self._update(self._answer())

    def _answer(self) -> Answer:
        session = self._engine.session
        if self._reduced is None:
            session.createDataFrame([], spark_schema("accesses")).createOrReplaceTempView(
                "accesses"
            )
            reduced = session.sql(self._queries.reduce)
        else:
            reduced = session.read.parquet(str(self._reduced))
        sources = sources_of(self._folder, self._request)
        about = self._folder.about() if self._folder.finished else self._folder.about_so_far()
        answers = self._engine.report(self._queries, sources, reduced)
        return answer_of(self._analysis, about, answers)
