"""`halo report`: the page of a real measurement, in a browser too, and its refusals."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from support.command import halo
from support.refusals import BAD_INPUT, USAGE, check
from support.report_pages import CHROMIUM, PROBE, browse, checked
from support.samples.field import field_document, field_findings
from support.samples.results import document, measured_folder, save, with_kept


@pytest.fixture(scope="module")
def real_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two real measurements: one as if a plan had been kept, one as if none had."""
    folder = tmp_path_factory.mktemp("report")
    with_kept(folder / "kept", measured_folder(), "halo")
    other = with_kept(folder / "none", measured_folder(), "none")
    found = json.loads((other / "results.json").read_text())
    found["summary"]["program"] = "another"
    save(found, other)
    outcome = halo("report", "kept", "none", "-o", "page.html", cwd=folder)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout == "Report: page.html\n"
    return folder / "page.html"


def test_a_real_page_shows_groups_graph_and_recording(real_page: Path) -> None:
    text = checked(real_page.read_text())
    assert "push" in text
    assert re.search(r"<stdin>:\d+", text), "the line of a call site"
    assert "Why: affinity (HALO, figure 6)" in text
    assert "Groups of the kept plan 'halo'" in text
    assert "affinity distance 128 bytes" in text
    assert "--plan kept/halo.plan --allocator glibc -- ./list 20000" in text


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_in_a_browser(real_page: Path, width: int, tmp_path: Path) -> None:
    """Also with everything unfolded."""
    check_width(real_page, width, tmp_path)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_long_names_of_the_field_do_not_stick_out(width: int, tmp_path: Path) -> None:
    raw = json.dumps(field_document(field_findings()))
    long = raw.replace('"jemalloc"', f'"lib{"jemalloc" * 8}.so"').replace(
        "fast over", "f" * 60 + " over"
    )
    folder = save(json.loads(long), tmp_path / "field")
    outcome = halo("report", str(folder), "-o", "page.html", cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    check_width(tmp_path / "page.html", width, tmp_path)


def check_width(page: Path, width: int, folder: Path) -> None:
    """In a frame of that width, nothing needs more."""
    probed = folder / "probed.html"
    content = html.escape(page.read_text())
    probed.write_text(PROBE.format(width=width, page=content))
    done = browse(probed, "--window-size=1400,900", "--dump-dom")
    found = re.search(r"<title>(\d+) (\d+)</title>", done.stdout)
    assert found is not None
    assert [int(size) for size in found.groups()] == [width, 0]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_has_nothing_to_complain_of(real_page: Path) -> None:
    done = browse(real_page, "--window-size=360,800", "--dump-dom")
    assert "affinity graph" in done.stdout
    assert "CONSOLE" not in done.stderr


@pytest.mark.parametrize(
    ("status", "words", "arguments"),
    [
        (USAGE, "RESULT", []),
        (USAGE, "takes results and no program", ["one", "--", "prog"]),
        (BAD_INPUT, "none does not exist", ["none"]),
        (BAD_INPUT, "both of the program prog", ["one", "one"]),
        (BAD_INPUT, "does not exist; make it first", ["one", "-o", "a/b.html"]),
    ],
)
def test_what_is_refused(tmp_path: Path, status: int, words: str, arguments: list[str]) -> None:
    save(document(), tmp_path / "one")
    check(tmp_path, status, words, "report", *arguments)
