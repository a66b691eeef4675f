"""What is wrong with the input of an analysis: one sentence, a documented status, no output."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from halo.base.errors import BadInput
from halo.studies.tracing.analyses import Request, find_analysis, open_folder, run_analysis
from halo.studies.tracing.analyses.engines.engine import memory_bytes
from halo.studies.tracing.analyses.schema import TABLES
from halo.studies.tracing.part_files import write_file
from support.command import REPOSITORY, Outcome, halo
from support.samples.trace import SampleTrace, scan_of_wide_structures, write_part

SPARK = f"in {REPOSITORY}, run: .venv/bin/pip install -e '.[spark]'"


def refused(outcome: Outcome, status: int, *words: str) -> None:
    assert outcome.status == status, outcome.stderr
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("halo: ") and outcome.stderr.count("\n") == 1
    for word in words:
        assert word in outcome.stderr


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    return scan_of_wide_structures().write(tmp_path / "columns")


def test_no_trace_dataset(tmp_path: Path) -> None:
    refused(halo("offenders", str(tmp_path / "none")), 117, "none")
    refused(halo("offenders", str(tmp_path)), 117, "not a trace dataset")
    text = tmp_path / "text"
    text.write_text("no trace")
    refused(halo("sharing", str(text)), 121, "text")


def test_a_table_is_missing(columns: Path) -> None:
    shutil.rmtree(columns / "sites")
    refused(halo("offenders", str(columns)), 117, "`sites`")


def test_a_trace_that_is_not_finished(columns: Path) -> None:
    shutil.rmtree(columns / "trace")
    refused(halo("offenders", str(columns)), 117, "not yet complete")


def test_a_damaged_table(columns: Path) -> None:
    part = next((columns / "accesses").iterdir())
    part.write_bytes(part.read_bytes()[:40])
    refused(halo("offenders", str(columns)), 117, "cannot be read")
    part.write_bytes(b"")
    refused(halo("offenders", str(columns)), 117, "cannot be read")


def test_a_pipe_in_the_dataset_is_not_opened(columns: Path) -> None:
    for table in ("accesses", "trace", "sites"):
        pipe = columns / table / "part-00009.parquet"
        os.mkfifo(pipe)
        refused(halo("offenders", str(columns)), 117, str(pipe), "not a regular file")
        pipe.unlink()


def test_any_flipped_byte_is_a_refusal_or_harmless(columns: Path, tmp_path: Path) -> None:
    """In this process, for there are many; a number that is wrong unseen is not looked for."""
    source = random.Random(7)
    files = sorted(columns.rglob("*.parquet"))
    refusals = 0
    for _ in range(150):
        path = source.choice(files)
        whole = path.read_bytes()
        damaged = bytearray(whole)
        damaged[source.randrange(len(damaged))] ^= 1 << source.randrange(8)
        path.write_bytes(damaged)
        try:
            run_analysis(find_analysis("offenders"), open_folder(columns), Request(tmp_path))
        except BadInput:
            refusals += 1
        path.write_bytes(whole)
    assert refusals > 10


def flip_in_pages(path: Path, name: str) -> None:
    """Changes a bit in the last page of a column."""
    column = next(
        it
        for at in range(pq.ParquetFile(path).metadata.num_columns)
        if (it := pq.ParquetFile(path).metadata.row_group(0).column(at)).path_in_schema == name
    )
    data = bytearray(path.read_bytes())
    begin = column.dictionary_page_offset or column.data_page_offset
    data[begin + column.total_compressed_size - 1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("table", ["sites", "fields"])
def test_a_flipped_bit_in_the_names_is_seen(tmp_path: Path, table: str) -> None:
    columns = scan_of_wide_structures().write(tmp_path / "columns")
    (part,) = (columns / table).glob("*.parquet")
    write_file(pq.read_table(part), part)
    flip_in_pages(part, "line")
    refused(halo("offenders", str(columns)), 117, table, "cannot be read")


@pytest.mark.parametrize("command", ["offenders", "report", "plan", "columns", "split"])
def test_a_path_that_no_system_takes_is_a_sentence(command: str) -> None:
    outcome = halo(command, "x" * 300)
    assert 111 <= outcome.status <= 121, outcome.stderr
    assert outcome.stderr.startswith("halo: ") and "Unexpected" not in outcome.stderr


def test_a_newer_version(tmp_path: Path) -> None:
    columns = scan_of_wide_structures().write(tmp_path / "columns", version=2)
    refused(halo("offenders", str(columns)), 117, "version 2", "newer")


def test_traces_of_different_builds_in_one_folder(columns: Path) -> None:
    other = pq.read_table(columns / "trace" / "part-00000.parquet").to_pylist()
    write_part(columns, "trace", 1, [{**other[0], "build_id": "cd" * 20}])
    refused(halo("offenders", str(columns)), 117, "different builds", "cdcd")


@pytest.mark.parametrize("option", ["--function", "--type", "--file", "--variable"])
def test_a_filter_that_matches_nothing_is_named(columns: Path, option: str) -> None:
    refused(halo("offenders", str(columns), option, "nothing*"), 117, option, "nothing*")
    refused(halo("offenders", str(columns), option, "!nothing*"), 117, option, "nothing*")


def test_filters_that_only_together_leave_nothing(columns: Path) -> None:
    outcome = halo("sharing", str(columns), "--function", "sum", "--variable", "total")
    refused(outcome, 117, "--function 'sum'", "--variable 'total'")


def test_wrong_options(columns: Path) -> None:
    refused(halo("analyse", "colours", str(columns)), 111, "offenders")
    refused(halo("analyse", "offenders"), 111, "halo study trace analyse NAME TRACE")
    refused(halo("offenders", str(columns), "--memory", "much"), 111, "--memory", "2GB")
    refused(halo("offenders", str(columns), "--memory", "1MB"), 111, "--memory", "64MB")
    refused(halo("offenders", str(columns), "--csv", "-", "--json", "-"), 111, "stdout")


def test_spark_without_java_and_without_pyspark(columns: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    arguments = ("offenders", str(columns), "--engine", "spark")
    refused(halo(*arguments, env={"PATH": str(nothing)}), 114, "Java", "install")
    # A Java that is there and a PySpark that is not.
    (nothing / "java").symlink_to("/bin/true")
    (nothing / "pyspark").mkdir()
    (nothing / "pyspark" / "__init__.py").write_text("raise ImportError")
    env = {"PATH": str(nothing), "PYTHONPATH": f"{nothing}:{REPOSITORY}"}
    refused(halo(*arguments, env=env), 114, "PySpark", SPARK)
    # Live is Spark too.
    live = ("offenders", str(columns), "--live")
    refused(halo(*live, env=env), 114, "PySpark", SPARK)


def test_an_empty_trace_has_nothing_to_say(tmp_path: Path) -> None:
    trace = SampleTrace()
    trace.site("load", "total", 1)
    columns = trace.write(tmp_path / "columns")
    write_part(columns, "accesses", 0, [])
    for name in ("offenders", "sharing"):
        outcome = halo(name, str(columns))
        assert (outcome.status, outcome.stderr) == (0, "")
        assert "nothing found" in outcome.stdout
    assert set(TABLES) >= {path.name for path in columns.iterdir()}


def test_what_was_lost_is_said(tmp_path: Path) -> None:
    columns = scan_of_wide_structures().write(
        tmp_path / "columns", lost=3, ending="cut-short", detail="The last frame is not whole."
    )
    outcome = halo("offenders", str(columns))
    assert outcome.status == 0
    assert "3 events were lost" in outcome.stdout
    assert "not whole (cut-short). The last frame is not whole." in outcome.stdout


def test_amounts_of_memory_are_read_as_they_are_meant() -> None:
    amounts = {"2GB": 2 * 10**9, "512MiB": 2**29, "1.5 gb": 1_500_000_000, "100000K": 10**8}
    assert {text: memory_bytes(text) for text in amounts} == amounts
