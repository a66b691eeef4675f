"""Analyses of a trace on the page of `halo report`: whole, escaped, and refused where damaged."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.report import render_report
from halo.studies.tracing.analyses import Request, find_analysis, open_folder, run_analysis
from halo.studies.tracing.analyses.documents import answer_document
from halo.studies.tracing.report.section import analysis_findings
from halo.studies.tracing.results import parse_analysis, read_analysis
from halo.studies.tracing.split import split_classes_of
from support.refusals import BAD_INPUT, check
from support.report_pages import checked
from support.samples.analyses import analysed, as_json, documents, kept
from support.samples.split import arcs_and_nodes
from support.samples.trace import scan_of_wide_structures


@pytest.fixture
def found() -> dict[str, dict[str, Any]]:
    """To be changed by a test."""
    return copy.deepcopy(documents())


def page_of(raw: dict[str, Any], tmp_path: Path) -> str:
    return render_report([], [analysis_findings(read_analysis(kept(raw, tmp_path / "one.json")))])


def test_offenders_have_bars_a_table_and_what_they_mean(
    found: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    text = checked(page_of(found["offenders"], tmp_path))
    assert "What a trace shows: /bin/sample" in text and "/bin/sample -n 3" in text
    assert "record.key at src/sample.c:10 (in scan) takes 79.7 %" in text
    assert "record.key sample.c:10 12.8 k" in text and "modelled cycles of the misses" in text
    assert "record.key scan sample.c:10 64 64 64 2 12,800 79.7 %" in text


def test_shared_lines_show_their_threads(found: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    text = checked(page_of(found["sharing"], tmp_path))
    assert "stats.hits sample.c:32 440 true sharing" in text
    assert "Truly shared: 440 accesses of 4 threads, 400 of them writes" in text
    for thread in range(4):
        assert f"thread {thread} 110" in text
    assert "stats.limit work sample.c:31 0 8 40 0 4 false yes" in text


def test_split_classes_show_their_fields_and_the_suggestion(
    found: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    page = page_of(found["split"], tmp_path)
    text = checked(page)
    assert "ident 4.0 k hot" in text and "cost 12 cold" in text and "potential 350 hot" in text
    assert "struct arc { int ident; struct arc_cold *cold; };" in text
    assert len(re.findall(r'class="bar hot"', page)) == 6
    assert len(re.findall(r'class="bar cold"', page)) == 9
    classes = [it.found for it in split_classes_of(read_analysis(tmp_path / "one.json"))]
    assert [(it.label, it.bytes, it.hot_bytes or 0, it.split) for it in classes] == [
        ("arc", 72, 16, True),
        ("node", 40, 0, False),
    ]


def test_an_analysis_that_the_page_does_not_know_is_a_table(tmp_path: Path) -> None:
    raw = {
        "format": "halo-analysis",
        "version": 1,
        "analysis": "strides",
        "program": "prog",
        "columns": ["loop", "stride_bytes", "sure"],
        "rows": [["a.c:7", 1234567, True], {"loop": "b.c:8", "stride_bytes": 8, "sure": None}],
        "findings": ["The loop at a.c:7 strides."],
    }
    text = checked(page_of(raw, tmp_path))
    assert "strides prog loop stride bytes sure a.c:7 1,234,567 yes b.c:8 8 Written" in text
    assert "The loop at a.c:7 strides." in text


def test_the_counts_of_split_without_its_classes_are_a_table(tmp_path: Path) -> None:
    """As the analysis alone returns them."""
    columns = open_folder(arcs_and_nodes().write(tmp_path / "columns"))
    answer = run_analysis(find_analysis("split"), columns, Request(tmp_path))
    text = checked(page_of(as_json(answer_document(answer)), tmp_path))
    assert "Structure splitting" in text and "arc 1 0 4 4,000" in text
    check(tmp_path, BAD_INPUT, "it has no classes", "plot", "split", "one.json")


def test_very_many_rows_are_truncated(tmp_path: Path) -> None:
    raw = {"format": "halo-analysis", "version": 1, "analysis": "x", "program": "p"}
    rows = [[at] for at in range(450)]
    text = checked(page_of({**raw, "columns": ["n"], "rows": rows}, tmp_path))
    assert "199 and 250 more rows" in text


def test_a_trace_that_is_not_whole_is_said(tmp_path: Path) -> None:
    detail = "It ends within a frame."
    raw = analysed(
        "offenders", scan_of_wide_structures(), tmp_path, ending="cut-short", detail=detail, lost=3
    )
    text = checked(page_of(raw, tmp_path))
    assert "Warning: The trace is not whole (cut-short). It ends within a frame." in text
    assert "Warning: 3 events of the trace were lost." in text


def test_names_are_escaped(found: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>&\"'"
    for name, raw in found.items():
        changed = json.loads(json.dumps(raw).replace("arc", "EVIL").replace("stats.hits", "EVIL"))
        changed["findings"] = [evil]
        changed["rows"] = [
            [evil if isinstance(cell, str) and cell in ("EVIL", "key") else cell for cell in row]
            for row in changed["rows"]
        ]
        for it in changed.get("classes", []):
            it["class"] = evil if it["class"] == "EVIL" else it["class"]
        page = page_of(changed, tmp_path)
        assert "<script" not in page.lower(), name
        assert evil in checked(page)


WRONG: tuple[Any, ...] = (
    None,
    0,
    -1,
    1.5,
    float("inf"),
    1 << 70,
    "x",
    "",
    [],
    {},
    True,
    [1],
    {"a": 1},
)


def places_in(found: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all values in a document, however deep."""
    inner = found.items() if isinstance(found, dict) else enumerate(found)
    for key, value in inner:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*place, key))


def test_any_damage_is_shown_or_refused() -> None:
    source, refused = random.Random(5), 0
    for raw in documents().values():
        places = list(places_in(raw))
        for _ in range(700):
            changed = copy.deepcopy(raw)
            *above, last = source.choice(places)
            holder: Any = changed
            for key in above:
                holder = holder[key]
            holder[last] = source.choice(WRONG)
            try:
                analysis_findings(parse_analysis(json.dumps(changed), Path("a.json")))
            except BadInput:
                refused += 1
    assert 700 < refused < 2100
