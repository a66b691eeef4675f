"""`halo study trace offenders`, `sharing` and `analyse`: table, CSV and JSON document."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from halo.studies.tracing.analyses import ANALYSES
from support.command import halo
from support.samples.trace import MACHINE, scan_of_wide_structures


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    return scan_of_wide_structures().write(tmp_path / "columns")


def test_the_table_and_what_it_suggests(columns: Path) -> None:
    outcome = halo("offenders", str(columns))
    assert (outcome.status, outcome.stderr) == (0, "")
    lines = [line for line in outcome.stdout.splitlines() if line.strip()]
    assert "/bin/sample, 256 events" in lines[0]
    assert lines[3].split()[:2] == ["record.key", "src/sample.c:10"]
    assert "79.7 %" in lines[3]
    assert "Keep key in an array of its own" in outcome.stdout


def test_csv_and_json_say_the_same(columns: Path, tmp_path: Path) -> None:
    outcome = halo("offenders", str(columns), "--csv", "-", "--json", str(tmp_path / "o.json"))
    rows = list(csv.reader(outcome.stdout.splitlines()))
    document = json.loads((tmp_path / "o.json").read_text())
    assert (document["format"], document["version"]) == ("halo-analysis", 1)
    assert (document["analysis"], document["program"]) == ("offenders", "/bin/sample")
    assert document["machine"] == MACHINE
    assert document["trace"]["arguments"] == ["-n", "3"]
    assert document["columns"] == rows[0]
    assert [[str(value) for value in row] for row in document["rows"]] == rows[1:]
    assert "record.key" in document["findings"][0]


def test_options_reach_the_analysis(columns: Path) -> None:
    outcome = halo(
        "offenders", str(columns), "--by", "line", "--rows", "1", "--function", "s[u]m", "--csv=-"
    )
    _, *rows = csv.reader(outcome.stdout.splitlines())
    assert [row[4:6] for row in rows] == [["src/sample.c", "20"]]


def test_analyse_lists_and_runs_every_analysis(columns: Path) -> None:
    listed = halo("analyse", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [analysis.name for analysis in ANALYSES]
    for analysis in ANALYSES:
        outcome = halo("analyse", analysis.name, str(columns))
        if analysis.name == "split":
            pointer = "halo: This analysis has its own command: halo study trace split TRACE\n"
            assert (outcome.status, outcome.stdout, outcome.stderr) == (111, "", pointer)
        else:
            assert (outcome.status, outcome.stderr) == (0, "")


def test_markup_in_names_is_printed_unchanged(tmp_path: Path) -> None:
    trace = scan_of_wide_structures()
    trace.rows["sites"][0]["variable"] = "graph[red].edges[]"
    columns = trace.write(tmp_path / "columns")
    assert "graph[red].edges[]" in halo("offenders", str(columns)).stdout


def test_paths_are_printed_without_their_common_folder(tmp_path: Path) -> None:
    trace = scan_of_wide_structures()
    for at, row in enumerate(trace.rows["sites"]):
        row["file"] = f"/home/me/sample/{'lib' if at else 'app'}/sample.c"
    stdout = halo("offenders", str(trace.write(tmp_path / "columns"))).stdout
    assert " app/sample.c:10" in stdout and " lib/sample.c:20" in stdout
