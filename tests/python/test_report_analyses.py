"""Analyses of a trace on the page of `halo report`: whole, escaped, and refused where damaged."""

from __future__ import annotations

import copy
import html
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import halo
from results_samples import document, save
from split_samples import arcs_and_nodes
from test_analyses_sharing import counters
from test_cli_bad_input import BAD_INPUT, check
from test_report import CHROMIUM, PROBE, browse, checked, fives
from trace_samples import SampleTrace, scan_of_wide_structures

from halo.analyses import Request, find_analysis, open_folder, run_analysis
from halo.analyses.documents import answer_document
from halo.analyses.split_analysis import split_of
from halo.analyses.split_document import split_document
from halo.errors import BadInput
from halo.report import render_report
from halo.report.analysis import analysis_section
from halo.results import read_measurements
from halo.results.analysis import COUNTED, parse_analysis, read_analysis
from halo.results.split import split_classes_of

TRACES = {
    "offenders": scan_of_wide_structures,
    "sharing": lambda: counters(atomic=True),
    "split": arcs_and_nodes,
}


def analysed(name: str, trace: SampleTrace, folder: Path, **more: Any) -> dict[str, Any]:
    """The JSON of an analysis of that trace."""
    columns = open_folder(trace.write(folder / "columns", **more))
    answer = run_analysis(find_analysis(name), columns, Request(folder))
    if name != "split":
        return answer_document(answer)
    result = split_of(answer.about.program, answer.report, answer.details)
    return split_document(answer, result, result.chosen())


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return {
        name: analysed(name, make(), tmp_path_factory.mktemp(name)) for name, make in TRACES.items()
    }


@pytest.fixture
def found(documents: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """To be changed by a test."""
    return copy.deepcopy(documents)


def kept(raw: Any, path: Path) -> Path:
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return path


def page_of(raw: dict[str, Any], tmp_path: Path) -> str:
    return render_report([], [read_analysis(kept(raw, tmp_path / "one.json"))])


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
    classes = split_classes_of(read_analysis(tmp_path / "one.json"))
    assert [(it.label, it.bytes, it.hot_bytes, it.split) for it in classes] == [
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
    """As `halo analyse split` writes them."""
    columns = open_folder(arcs_and_nodes().write(tmp_path / "columns"))
    answer = run_analysis(find_analysis("split"), columns, Request(tmp_path))
    text = checked(page_of(answer_document(answer), tmp_path))
    assert "Structure splitting" in text and "arc 1 0 4 4,000" in text
    check(tmp_path, BAD_INPUT, "it has no classes", "plot", "split", "one.json")


def test_very_many_rows_are_not_all_shown(tmp_path: Path) -> None:
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


def test_measurements_and_analyses_stand_on_one_page(
    found: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    save(fives(document()), tmp_path / "measured")
    kept(found["split"], tmp_path / "split.json")
    outcome = halo("report", "split.json", "measured", "-o", "page.html", cwd=tmp_path)
    assert (outcome.status, outcome.stderr) == (0, "")
    page = (tmp_path / "page.html").read_text()
    text = checked(page)
    assert "Where heap objects live: 2 programs" in text
    assert "Structure splitting" in text and "Machine and method" in text
    assert 'href="#analysis-1"' in page and 'id="analysis-1"' in page
    alone = render_report(read_measurements([tmp_path / "measured"]))
    assert "Structure splitting" not in alone


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "has version 2, this halo reads up to 1"),
        ({"version": None}, "it has no version"),
        ({"columns": []}, "columns are missing or have the same name"),
        ({"columns": ["class", "class"]}, "columns are missing or have the same name"),
        ({"rows": [["arc"]]}, "rows[0] has 1 cells for 8 columns"),
        ({"rows": [[[], 0, 0, 0, 0, 0, 0, 0]]}, "rows[0] holds more than texts and numbers"),
        ({"rows": [[float("nan")] * 8]}, "rows[0] holds a number without end or meaning"),
        ({"rows": {}}, "rows is not a list"),
        ({"findings": [3]}, "findings is not a text"),
        ({"classes": [{}]}, "class is not a text"),
        ({"classes": 3}, "classes is not a list"),
        ({"trace": {"lost": "many"}}, "trace.lost is not a whole number"),
        ({"columns": list("abcdefgh")}, "it has no column 'class'"),
        ({"analysis": "sharing"}, "it has no column 'rank'"),
    ],
)
def test_damaged_documents(
    found: dict[str, dict[str, Any]], tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    kept({**found["split"], **change}, tmp_path / "one.json")
    check(tmp_path, BAD_INPUT, words, "report", "one.json")


@pytest.mark.parametrize(
    ("analysis", "place", "value", "words"),
    [
        ("offenders", ("rows", 0, "accesses"), "many", "accesses is not a number"),
        ("offenders", ("rows", 0, "last_missed"), -1, "last_missed is negative"),
        ("sharing", ("rows", 0, "writes"), True, "writes is not a number"),
        ("sharing", ("details", "threads", "rows", 0, 3), -5, "accesses is negative"),
        ("offenders", ("details", "used"), [], "details.used is not an object"),
        ("offenders", ("machine",), [], "machine is not an object"),
        ("offenders", ("trace", "events"), "x", "trace.events is not a whole number"),
    ],
)
def test_damaged_cells(
    found: dict[str, dict[str, Any]],
    tmp_path: Path,
    analysis: str,
    place: tuple[Any, ...],
    value: Any,
    words: str,
) -> None:
    raw: Any = found[analysis]
    *above, last = place
    holder = raw
    for key in above:
        holder = holder[key]
    if last in COUNTED:
        last = raw["columns"].index(last)
    holder[last] = value
    kept(raw, tmp_path / "one.json")
    check(tmp_path, BAD_INPUT, words, "report", "one.json")


def test_a_refusal_names_the_analyses_too(tmp_path: Path) -> None:
    kept("{}", tmp_path / "other.json")
    for name in ("other.json", "nowhere.json"):
        check(tmp_path, BAD_INPUT, "the JSON of `halo offenders`", "report", name)


WRONG = (None, 0, -1, 1.5, float("inf"), 1 << 70, "x", "", [], {}, True, [1], {"a": 1})


def places_in(found: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all values in a document, however deep."""
    inner = found.items() if isinstance(found, dict) else enumerate(found)
    for key, value in inner:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places_in(value, (*place, key))


def test_any_damage_is_shown_or_refused(documents: dict[str, dict[str, Any]]) -> None:
    source, refused = random.Random(5), 0
    for raw in documents.values():
        places = list(places_in(raw))
        for _ in range(700):
            changed = copy.deepcopy(raw)
            *above, last = source.choice(places)
            holder: Any = changed
            for key in above:
                holder = holder[key]
            holder[last] = source.choice(WRONG)
            try:
                analysis_section(parse_analysis(json.dumps(changed), Path("a.json")), 1)
            except BadInput:
                refused += 1
    assert 700 < refused < 2100


def test_files_that_are_cut_short_or_something_else(
    found: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    kept(json.dumps(found["split"])[:300], tmp_path / "cut.json")
    check(tmp_path, BAD_INPUT, "cut.json is cut short or damaged", "report", "cut.json")
    check(tmp_path, BAD_INPUT, "cut.json is cut short or damaged", "plot", "split", "cut.json")
    kept("{}", tmp_path / "other.json")
    check(tmp_path, BAD_INPUT, "is not of an analysis", "plot", "split", "other.json")
    check(tmp_path, BAD_INPUT, "nowhere.json does not exist", "plot", "split", "nowhere.json")
    kept(found["sharing"], tmp_path / "sharing.json")
    check(tmp_path, BAD_INPUT, "of the analysis 'sharing'", "plot", "split", "sharing.json")
    broken = copy.deepcopy(found["sharing"])
    broken["details"]["threads"]["columns"][0] = "rang"
    kept(broken, tmp_path / "broken.json")
    check(tmp_path, BAD_INPUT, "details.threads.columns lack 'rank'", "report", "broken.json")
    with pytest.raises(BadInput, match="cannot be read"):
        read_analysis(tmp_path)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_in_a_browser(
    found: dict[str, dict[str, Any]], width: int, tmp_path: Path
) -> None:
    results = [read_analysis(kept(raw, tmp_path / f"{name}.json")) for name, raw in found.items()]
    page = render_report([], results)
    checked(page)
    probed = tmp_path / "probed.html"
    probed.write_text(PROBE.format(width=width, page=html.escape(page)))
    done = browse(probed, "--window-size=1400,900", "--dump-dom")
    sizes = re.search(r"<title>(\d+) (\d+)</title>", done.stdout)
    assert sizes is not None
    assert [int(size) for size in sizes.groups()] == [width, 0]
