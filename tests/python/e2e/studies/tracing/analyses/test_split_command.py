"""`halo study trace split` on columns: what it prints, what it writes, and the figure of it."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from halo.studies.tracing.analyses import Request, find_analysis, open_folder, run_analysis
from halo.studies.tracing.analyses.split.analysis import split_of
from halo.studies.tracing.analyses.split.split import SplitResult
from support.command import halo
from support.refusals import BAD_INPUT, USAGE, check
from support.samples.split import ARC_USES, NODE_USES, arcs_and_nodes, document, use
from support.samples.trace import SampleTrace


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return arcs_and_nodes().write(tmp_path_factory.mktemp("split") / "columns")


def split(folder: Path, tmp_path: Path) -> SplitResult:
    answer = run_analysis(find_analysis("split"), open_folder(folder), Request(tmp_path))
    return split_of(answer.about.program, answer.report, answer.details)


def test_counts_of_a_trace_are_those_of_its_fields(columns: Path, tmp_path: Path) -> None:
    result = split(columns, tmp_path)
    assert result.accesses == sum(ARC_USES.values()) + sum(NODE_USES.values())
    for found, uses in zip(result.classes, (ARC_USES, NODE_USES), strict=True):
        pairs = zip(found.use.leaves, found.use.accesses, strict=True)
        assert {leaf.name: count for leaf, count in pairs if count} == uses
    arc, node = result.classes
    assert arc.decision.split and arc.arrays.arrays_only and arc.arrays.maximum == 1000
    assert not node.decision.split and not node.arrays.arrays_only


def test_a_copy_touches_all_fields_that_it_covers(tmp_path: Path) -> None:
    trace = SampleTrace()
    trace.structure("s", 32, ("a", 0, 8), ("b", 8, 8), ("c", 16, 8), ("d", 24, 8))
    whole = trace.site("read-range", "s.a", 5, field="", bytes=0)
    trace.access(whole, 0x1000, bytes=24)
    trace.access(whole, 0x1000, bytes=32)
    trace.access(trace.site("load", "elsewhere", 6), 0x2000)
    found = split(trace.write(tmp_path / "columns"), tmp_path).classes[0]
    assert found.use.accesses == (2, 2, 2, 1)


def test_what_the_command_says_and_writes(columns: Path, tmp_path: Path) -> None:
    outcome = halo(
        *("split", str(columns), "--json", "s.json", "--csv", "s.csv", "--picture", "s.svg"),
        cwd=tmp_path,
    )
    assert (outcome.status, outcome.stderr) == (0, "")
    assert "Split arc: 9 of its 10 fields are cold; 72 bytes become 16" in outcome.stdout
    assert "struct arc_cold *cold;" in outcome.stdout
    assert "structure of arrays" in outcome.stdout
    assert "padding" in outcome.stdout and "place.x" in outcome.stdout
    written = document(tmp_path / "s.json")
    assert written["analysis"] == "split" and written["program"] == "/bin/sample"
    assert [it["class"] for it in written["classes"]] == ["arc", "node"]
    rows = list(csv.reader(io.StringIO((tmp_path / "s.csv").read_text())))
    assert rows[0] == written["columns"] and len(rows) == 1 + len(written["rows"])
    by_field = {row[1]: row for row in rows if row[0] == "arc"}
    assert by_field["ident"][5:] == ["4000", "0.99552", "hot"]
    assert by_field["cost"][5:] == ["12", "0.002987", "cold"]
    assert [row[3:5] for row in rows if row[7] == "padding" and row[0] == "arc"] == [
        ["4", "4"],
        ["69", "3"],
    ]
    ET.fromstring((tmp_path / "s.svg").read_text())


def test_one_figure_for_both_commands(columns: Path, tmp_path: Path) -> None:
    for arguments in (
        ("split", str(columns), "--json", "s.json", "--picture", "one.png"),
        ("plot", "split", "s.json", "-o", "other.png"),
        ("split", str(columns), "--picture", "one.svg"),
        ("plot", "split", "s.json", "-o", "other.svg"),
    ):
        assert halo(*arguments, cwd=tmp_path).status == 0
    for ending in ("png", "svg"):
        one, other = (tmp_path / f"{name}.{ending}" for name in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()
    text = " ".join(ET.fromstring(one.with_suffix(".svg").read_text()).itertext())
    assert "arc (72 → 16 bytes)" in text and "ident" in text and "4,000" in text
    assert "hot" in text and "cold" in text


def test_classes_that_are_not_live_are_told_on_request(tmp_path: Path) -> None:
    trace = arcs_and_nodes()
    trace.structure("rare", 24, ("a", 0, 8), ("b", 8, 8), ("c", 16, 8))
    use(trace, "rare", {"a": 1})
    folder = str(trace.write(tmp_path / "columns"))
    assert "rare" not in halo("split", folder).stdout
    outcome = halo("split", folder, "--all", "--class", "r*")
    assert "not live: 1 accesses, and more than 18.8 are required" in outcome.stdout
    assert "arc" not in outcome.stdout
    assert outcome.stdout.endswith("No class should be split: none has enough accesses.\n")


def test_stdout_takes_one_file(columns: Path) -> None:
    outcome = halo("split", str(columns), "--csv", "-", "--rows", "1")
    assert outcome.stdout.startswith("class,field,type,offset,bytes,accesses,share,part\narc,")
    assert "node,potential" not in outcome.stdout
    assert json.loads(halo("split", str(columns), "--json", "-").stdout)["analysis"] == "split"


def test_a_trace_that_is_not_whole_is_said(tmp_path: Path) -> None:
    detail = "It ends within a frame."
    folder = arcs_and_nodes().write(tmp_path / "columns", ending="cut-short", detail=detail, lost=4)
    said = halo("split", str(folder)).stdout
    assert said.endswith(f"warning: the trace is not whole (cut-short). {detail}\n")
    assert "warning: 4 events were lost." in said


def test_a_trace_without_types(tmp_path: Path) -> None:
    """Built without debug information: nothing is known of any structure."""
    trace = SampleTrace()
    trace.access(trace.site("load", "", 0), 0x1000)
    outcome = halo("split", str(trace.write(tmp_path / "columns")))
    assert outcome.status == 0
    assert "built without -g" in " ".join(outcome.stdout.split())


@pytest.mark.parametrize(
    ("status", "words", "arguments"),
    [
        (USAGE, "TRACE", []),
        (USAGE, "takes a trace and no program", ["columns", "--", "prog"]),
        (USAGE, "end the name in .svg", ["columns", "--picture", "a.gif"]),
        (BAD_INPUT, "nowhere", ["nowhere"]),
        (
            BAD_INPUT,
            "No class with an accessed field matches --class 'x*'",
            ["columns", "--class", "x*"],
        ),
        (BAD_INPUT, "does not exist; make it first", ["columns", "--json", "a/b.json"]),
        (BAD_INPUT, "has no live class", ["rare", "--class", "rare", "--picture", "a.svg"]),
    ],
)
def test_what_is_refused(
    columns: Path, tmp_path: Path, status: int, words: str, arguments: list[str]
) -> None:
    (tmp_path / "columns").symlink_to(columns)
    if "rare" in arguments:
        trace = arcs_and_nodes()
        trace.structure("rare", 24, ("a", 0, 8), ("b", 8, 8), ("c", 16, 8))
        use(trace, "rare", {"a": 1})
        trace.write(tmp_path / "rare")
    check(tmp_path, status, words, "split", *arguments)
