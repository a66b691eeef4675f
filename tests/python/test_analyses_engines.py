"""Both engines give the same answer to every analysis, byte for byte; so does a stream."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from trace_samples import SampleTrace

from halo.analyses import ANALYSES, Analysis, Filters, Request, TraceFolder
from halo.analyses.documents import csv_text
from halo.analyses.duckdb_engine import DuckDbEngine
from halo.analyses.running import sources_of

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("no Java", allow_module_level=True)

from halo.analyses.spark_engine import SparkEngine


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    engine = SparkEngine(tmp_path_factory.mktemp("spark"), "1GB", 2)
    # To compile what runs over a few thousand rows takes longer than to run it.
    engine.session.conf.set("spark.sql.codegen.wholeStage", "false")
    engine.session.conf.set("spark.sql.shuffle.partitions", "1")
    yield engine
    engine.close()


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
