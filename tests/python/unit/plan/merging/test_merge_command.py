"""`halo merge` as a user calls it: the files, the tables, the document, and the refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halo.base.schema.document import convert
from halo.base.schema.merge import MergeDocument
from halo.cli.main import main
from halo.record.profile import Module, read_profile
from support.samples.conflicts import conflicts_document
from support.samples.inputs import LIBC, OTHER_LIBC, PROGRAM, Recorded, blue, red

USAGE, BAD_PROFILE, BAD_INPUT = 111, 115, 117
Capture = pytest.CaptureFixture[str]


def test_the_profile_is_written_and_the_next_step_named(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    red().save(Path("a.profile"))
    blue().save(Path("b.profile"))
    assert main(["merge", "a.profile", "b.profile", "-o", "c.profile", "--weights", "3,1"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    rows = [line.split() for line in shown.out.splitlines()]
    assert ["1", "a.profile", "1,000", "3", "75.0%"] in rows
    assert ["2", "b.profile", "1,000", "1", "25.0%"] in rows
    assert "agree" not in shown.out
    assert shown.out.splitlines()[-1].endswith(" plan c.profile")
    assert len(read_profile("c.profile").contexts) == 5


def test_the_score_needs_no_output(tmp_path: Path, capsys: Capture) -> None:
    one, other = red().save(tmp_path / "a"), blue().save(tmp_path / "b")
    before = sorted(tmp_path.iterdir())
    assert main(["merge", str(one), str(other), "--score"]) == 0
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines()]
    assert ["1", "the", "others", "5.0%", "20.0%", "33.3%"] in rows
    assert ["1", "all", "100.0%", "100.0%", "100.0%"] in rows
    assert ["2", "itself", "100.0%", "100.0%", "100.0%"] in rows
    assert "The inputs are unlike each other" in shown
    assert "Next:" not in shown
    assert sorted(tmp_path.iterdir()) == before


def test_the_document_has_the_inputs_their_scores_and_what_is_missing(
    tmp_path: Path, capsys: Capture
) -> None:
    one, other = Recorded(), Recorded((PROGRAM, OTHER_LIBC))
    for recorded in (one, other):
        recorded.called([16, (1, 30), 3], accesses=30)
        a = recorded.called([24, 3], accesses=70)
        recorded.edge(a, a, 9)
    paths = [
        str(one.save(tmp_path / "a", "-x", conflicts=conflicts_document())),
        str(other.save(tmp_path / "b")),
    ]
    output, document = str(tmp_path / "c"), tmp_path / "c.json"
    assert main(["merge", *paths, "-o", output, "--score", "--json", str(document)]) == 0
    shown = capsys.readouterr().out
    assert "unlike builds of libc: 2 contexts through it, with 30.0% of the accesses" in shown
    assert f"Without conflicts: {paths[1]} does not have it." in shown
    found = convert(json.loads(document.read_text()), MergeDocument)
    assert (found.format, found.version, found.output) == ("halo-merge", 1, output)
    assert [it.arguments for it in found.inputs] == [("-x",), ("b",)]
    assert [it.score.kept for it in found.inputs if it.score] == [1, 1]
    assert [it.section for it in found.left_out] == ["conflicts"]
    assert found.apart is not None and found.apart.contexts == 2
    assert isinstance(found.agreement, str) and found.agreement in shown


@pytest.mark.parametrize(
    ("status", "sentence", "arguments"),
    [
        (USAGE, "needs two profiles at least", ["one", "-o", "c"]),
        (USAGE, "PROFILE", ["-o", "c"]),
        (USAGE, "Nothing would be written", ["one", "two"]),
        (USAGE, "takes profiles and no program", ["one", "two", "-o", "c", "--", "prog"]),
        (USAGE, "There are 2 profiles and 3 weights", ["one", "two", "-o", "c", "--weights=1,2,3"]),
        (USAGE, "'1,0' is not numbers above 0", ["one", "two", "-o", "c", "--weights", "1,0"]),
        (USAGE, "'a' is not numbers above 0", ["one", "two", "-o", "c", "--weights", "a"]),
        (USAGE, "'nan,1' is not numbers", ["one", "two", "-o", "c", "--weights", "nan,1"]),
        (USAGE, "-o and --json name the same", ["one", "two", "-o", "c", "--json", "./c"]),
        (BAD_INPUT, "two is an input and would be overwritten", ["one", "two", "-o", "./two"]),
        (BAD_INPUT, "are the same recording", ["one", "one", "-o", "c"]),
        (BAD_INPUT, "are the same recording", ["one", "copy", "--score"]),
        (BAD_INPUT, "are of different builds of program", ["one", "rebuilt", "-o", "c"]),
        (BAD_INPUT, "does not exist; make it first", ["one", "two", "-o", "no/c"]),
        (BAD_PROFILE, "three cannot be read", ["one", "three", "-o", "c"]),
        (BAD_PROFILE, "cut is cut short", ["one", "cut", "-o", "c"]),
        (BAD_PROFILE, "empty is empty", ["empty", "one", "--score"]),
    ],
)
def test_refusals_are_one_sentence(
    status: int,
    sentence: str,
    arguments: list[str],
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    red().save(Path("one"))
    blue().save(Path("two"))
    red((Module(PROGRAM.path, "ee" * 20), LIBC)).save(Path("rebuilt"))
    Path("copy").write_bytes(Path("one").read_bytes())
    Path("cut").write_bytes(Path("one").read_bytes()[:100])
    Path("empty").write_bytes(b"")
    before = sorted(tmp_path.iterdir())
    assert main(["merge", *arguments]) == status
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert sentence in shown.err
    assert sorted(tmp_path.iterdir()) == before
