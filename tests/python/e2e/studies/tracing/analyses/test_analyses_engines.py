"""Both engines give the same answer to every analysis, byte for byte; so does a live trace."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.studies.tracing.analyses import (
    ANALYSES,
    Analysis,
    Filters,
    Request,
    TraceFolder,
    run_analysis,
)
from halo.studies.tracing.analyses.documents import csv_text
from halo.studies.tracing.analyses.engines.duckdb import DuckDbEngine
from halo.studies.tracing.analyses.engines.spark import SparkEngine
from halo.studies.tracing.analyses.engines.spark_live import follow
from halo.studies.tracing.analyses.engines.spark_session import start_session
from halo.studies.tracing.analyses.runner import Answer, sources_of
from support.samples.trace import SampleTrace


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    # To compile well what runs over a few thousand rows takes longer than to run it.
    quick = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }
    folder = tmp_path_factory.mktemp("spark")
    session = start_session(folder, "1g", 1, quick)
    yield SparkEngine(folder, "1GB", session=session)
    session.stop()


def some_trace(accesses: int = 4000) -> SampleTrace:
    """Three threads over structures, arrays, a shared counter, what has no name, and ties."""
    drawn = random.Random(11)
    trace = SampleTrace()
    trace.structure("record", 128, ("key", 0, 8), ("next", 64, 8))
    kinds = ("load", "store", "update", "read-range", "write-range")
    names = ("record.key", "record.next", "total", "it's[]", "größe", "")
    sites = [
        trace.site(drawn.choice(kinds), names[at % 6], at % 9, function=f"f{at % 4}")
        for at in range(30)
    ]
    for _ in range(accesses):
        missed = drawn.choice([0, 0, 0, 1, 2])
        address = 0x7F0000000000 + drawn.randrange(3000)
        size = drawn.choice([1, 4, 8, 200])
        trace.access(
            drawn.choice(sites),
            address,
            drawn.randrange(3),
            bytes=size,
            missed=missed,
            tlb_missed=missed // 2,
            object=drawn.randrange(20),
        )
    for at in range(40):
        # A line that one thread takes over from another, ordered by a free or not.
        for step in range(2):
            trace.access(sites[at % 30], 0x1000 + 64 * at, (at + step) % 3)
            if step == 0 and at % 3:
                trace.free(at + 30)
    return trace


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.name)
@pytest.mark.parametrize("globs", [{}, {"function": ["f*", "!f2"]}], ids=["all", "filtered"])
def test_engines_agree(
    analysis: Analysis, globs: dict[str, list[str]], spark: SparkEngine, tmp_path: Path
) -> None:
    folder = TraceFolder(some_trace().write(tmp_path / "columns", parts=3))
    sources = sources_of(folder, Request(tmp_path, filters=Filters(globs)))
    queries = analysis.queries({"limit": 1000})
    duckdb = DuckDbEngine(tmp_path)
    ours, theirs = duckdb.run(queries, sources), spark.run(queries, sources)
    assert len(ours.report.rows) > 1
    assert csv_text(ours.report) == csv_text(theirs.report)
    assert ours.details.keys() == theirs.details.keys()
    for name, table in ours.details.items():
        assert csv_text(table) == csv_text(theirs.details[name])
    values = {type(value) for row in ours.report.rows for value in row}
    assert values <= {int, str}


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.name)
def test_a_live_trace_ends_in_the_answer_about_all(
    analysis: Analysis, spark: SparkEngine, tmp_path: Path
) -> None:
    """The folder grows while it is followed; the first answer comes before the trace is done."""
    whole = some_trace().write(tmp_path / "whole", parts=3)
    growing = tmp_path / "growing"
    (growing / "accesses").mkdir(parents=True)
    first, *later = sorted((whole / "accesses").iterdir())
    for table in ("sites", "fields", "frees"):
        shutil.copytree(whole / table, growing / table)
    shutil.copy(first, growing / "accesses")
    answers: list[Answer] = []
    begun = threading.Event()

    def update(answer: Answer) -> None:
        answers.append(answer)
        begun.set()

    def grow() -> None:
        assert begun.wait(60)
        for part in later:
            # A file appears whole, as the converter writes it: under another name at first.
            shutil.copy(part, growing / "accesses" / f".{part.name}")
            (growing / "accesses" / f".{part.name}").rename(growing / "accesses" / part.name)
        shutil.copytree(whole / "trace", growing / "copied")
        (growing / "copied").rename(growing / "trace")

    writer = threading.Thread(target=grow)
    writer.start()
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    last = follow(analysis, TraceFolder(growing), Request(tmp), spark, update)
    writer.join()
    expected = run_analysis(analysis, TraceFolder(whole), Request(tmp))
    assert answers[0].about.ending == "running"
    assert csv_text(last.report) == csv_text(expected.report)
    assert (last.about, last.findings) == (expected.about, expected.findings)
    assert csv_text(answers[0].report) != csv_text(last.report)
