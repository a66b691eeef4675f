"""`halo report` of documents of analyses: beside measurements, and refused if damaged."""

from __future__ import annotations

import copy
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.report import render_report
from halo.report.documents import reader_of
from halo.report.results import read_measurements
from halo.studies.tracing.results import COUNTED, read_analysis
from support.command import halo
from support.refusals import BAD_INPUT, check
from support.report_pages import CHROMIUM, PROBE, browse, checked, fives
from support.samples.analyses import documents, kept
from support.samples.hints import feature, hints_result, learnt
from support.samples.layouts import layout_result, replayed_layout
from support.samples.results import document, save

LAYOUTS = (
    replayed_layout("as-recorded", "recorded", 100, L1D=200, DTLB=4),
    replayed_layout("hml-ordered-with-a-long-name", "reuse", 60, L1D=50, DTLB=0),
)


def hints_of_mesh(folder: Path) -> Path:
    return hints_result(
        folder / "hints.json", learnt("mesh::Node", feature("triangles->visits", "secondary", 1, 1))
    )


@pytest.fixture
def found() -> dict[str, dict[str, Any]]:
    """To be changed by a test."""
    return copy.deepcopy(documents())


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
        ({"columns": []}, "columns is empty"),
        ({"columns": ["class", "class"]}, "two columns have the same name"),
        ({"rows": [["arc"]]}, "rows[0] has 1 cells for 8 columns"),
        ({"rows": [[[], 0, 0, 0, 0, 0, 0, 0]]}, "rows[0][0] is not a text or a number"),
        ({"rows": [[float("nan")] * 8]}, "rows[0][0] is not a number"),
        ({"rows": {}}, "rows is not a list"),
        ({"findings": [3]}, "findings[0] is not a text"),
        ({"classes": [{}]}, "classes[0].class is missing"),
        ({"classes": 3}, "classes is not a list"),
        ({"trace": {"lost": "many"}}, "trace.lost is not a whole number"),
        ({"columns": list("abcdefgh")}, "rows[0].class is missing"),
        ({"analysis": "sharing"}, "rows[0].rank is missing"),
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
        check(tmp_path, BAD_INPUT, "the JSON of `halo study trace offenders`", "report", name)


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
    check(tmp_path, BAD_INPUT, "details.threads.rows[0].rank is missing", "report", "broken.json")
    with pytest.raises(BadInput, match="is a folder"):
        read_analysis(tmp_path)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_in_a_browser(
    found: dict[str, dict[str, Any]], width: int, tmp_path: Path
) -> None:
    paths = [kept(raw, tmp_path / f"{name}.json") for name, raw in found.items()]
    paths += [layout_result(tmp_path / "layout.json", *LAYOUTS), hints_of_mesh(tmp_path)]
    readers = [(reader_of(path), path) for path in paths]
    page = render_report([], [reader(path) for reader, path in readers if reader is not None])
    checked(page)
    probed = tmp_path / "probed.html"
    probed.write_text(PROBE.format(width=width, page=html.escape(page)))
    done = browse(probed, "--window-size=1400,900", "--dump-dom")
    sizes = re.search(r"<title>(\d+) (\d+)</title>", done.stdout)
    assert sizes is not None
    assert [int(size) for size in sizes.groups()] == [width, 0]
