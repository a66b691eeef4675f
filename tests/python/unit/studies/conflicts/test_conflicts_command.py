"""`halo study conflicts` as a user calls it: tables, documents, the graph and the picture."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from halo.base.schema.document import convert
from halo.cli.main import main
from halo.studies.conflicts.document import ConflictsDocument, MissesByClass
from support.samples.conflicts import conflicts_document, machine, state
from support.samples.plan import Sample
from support.svg import words

USAGE, BAD_PROFILE, BAD_INPUT = 111, 115, 117
Capture = pytest.CaptureFixture[str]


def saved(path: Path, **changes: Any) -> str:
    """A profile of three contexts with the sample's conflicts, changed by the arguments."""
    sample = Sample()
    for site in (1, 2, 3):
        sample.add([site, 9])
    document = {**sample.document(), "conflicts": {**conflicts_document(), **changes}}
    path.write_text(json.dumps(document))
    return str(path)


def without_conflicts(path: Path) -> str:
    sample = Sample()
    sample.add([1])
    path.write_text(json.dumps(sample.document()))
    return str(path)


def few(path: Path, conflict: int) -> str:
    """A profile with 100 conflict misses at most, among many others."""
    states = [state(None, 0), state(0, 64, capacity=100_000, conflict=conflict)]
    pairs = [[1, 1, 2 * conflict, 2 * conflict, 0]] if conflict else []
    return saved(path, states=states, pairs=pairs, outside_slots=[])


def test_the_output_says_which_states_compete(tmp_path: Path, capsys: Capture) -> None:
    path = saved(tmp_path / "p.profile")
    assert main(["conflicts", path]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    lines = shown.out.splitlines()
    assert lines[0] == (
        "L1D of 64 sets x 2 ways (8,192 bytes, lines of 64) has 10 misses: 0 compulsory, 1 capacity"
        " and 9 conflict misses, which are 90.0%; at 11.1% of these, memory outside tracked objects"
        " was in the set."
    )
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    second = ["2", "program+0x2 ← program+0x9", "128", "40", "0", "0", "5", "5", "2", "1", "75%"]
    first = ["1", "program+0x1 ← program+0x9", "64", "40", "0", "1", "3", "3", "2", "1", "0%"]
    at = rows.index(second)
    assert rows[at + 1] == first
    assert rows[at + 2][:2] == ["0", "outside tracked objects"]
    name = "1: program+0x1 ← program+0x9, 64 bytes"
    other = "2: program+0x2 ← program+0x9, 128 bytes"
    at = rows.index([other, name, "5", "0.5"])
    assert rows[at + 1] == [name, other, "3", "2.0"]
    assert lines[-1] == f"Next, make a plan: halo plan {path} --strategy conflict"


def test_the_number_of_rows_is_chosen(tmp_path: Path, capsys: Capture) -> None:
    path = saved(tmp_path / "p.profile")
    assert main(["conflicts", path, "--rows", "1"]) == 0
    out = capsys.readouterr().out
    assert "(1 of 3)" in out and "75%" in out
    assert "outside tracked objects\n" not in out
    assert main(["conflicts", path, "--rows", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("conflict", "sentence"),
    [
        (0, "There are no conflict misses: placement by cache set cannot help this program."),
        (
            100,
            "Only 0.10% of the misses are conflicts, less than 0.5%: placement by cache set cannot"
            " help this program.",
        ),
    ],
)
def test_few_conflicts_are_said(
    conflict: int, sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["conflicts", few(tmp_path / "p.profile", conflict)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == sentence
    assert "--strategy" not in "".join(lines)


OF_OUTSIDE = {
    "states": [state(None, 0, conflict=100)],
    "pairs": [[0, 0, 200, 200, 0]],
    "outside_slots": [],
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (OF_OUTSIDE, "The conflict misses are of memory that no plan moves"),
        ({"machine": machine(sets=32)}, "No plan can follow: the first cache of the recorded"),
        ({"machine": machine(line=32)}, "No plan can follow: the first cache of the recorded"),
    ],
)
def test_no_plan_is_recommended_that_would_place_nothing(
    changes: dict[str, Any], sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    path, output = saved(tmp_path / "p.profile", **changes), tmp_path / "c.json"
    assert main(["conflicts", path, "--json", str(output)]) == 0
    shown = capsys.readouterr().out
    assert sentence in shown and "--strategy" not in shown
    assert not convert(json.loads(output.read_text()), ConflictsDocument).placeable


def test_what_the_recorder_left_out_is_said(tmp_path: Path, capsys: Capture) -> None:
    path = saved(tmp_path / "p.profile", states_left_out=1200, pairs_left_out=30)
    assert main(["conflicts", path]) == 0
    assert "left out 1,200 states with fewer misses, and 30 pairs" in capsys.readouterr().out
    assert main(["conflicts", saved(tmp_path / "p.profile")]) == 0
    assert "left out" not in capsys.readouterr().out


def test_the_document_has_all_states_and_pairs(tmp_path: Path) -> None:
    path, output = saved(tmp_path / "p.profile"), tmp_path / "c.json"
    assert main(["conflicts", path, "--rows", "1", "--json", str(output)]) == 0
    found = convert(json.loads(output.read_text()), ConflictsDocument)
    assert (found.format, found.version, found.program) == ("halo-conflicts", 1, "/nowhere/program")
    assert found.misses == MissesByClass(0, 1, 9)
    assert (found.conflict_share, found.min_conflict_share, found.placeable) == (0.9, 0.005, True)
    assert [it.number for it in found.states] == [2, 1, 0]
    first, *_, outside = found.states
    assert (first.context, first.size, first.slots, first.far) == (1, 128, 1, 0.75)
    assert first.stack == ("program+0x2", "program+0x9")
    assert (outside.context, outside.stack) == (None, ())
    assert [(it.first, it.second, it.misses) for it in found.pairs] == [
        (2, 1, 5),
        (1, 2, 3),
        (0, 0, 1),
    ]


def test_the_graph_leads_from_the_state_that_misses(tmp_path: Path) -> None:
    path, output = saved(tmp_path / "p.profile"), tmp_path / "c.dot"
    assert main(["conflicts", path, "--dot", str(output)]) == 0
    text = output.read_text()
    assert text.startswith('digraph "/nowhere/program" {\n') and text.endswith("}\n")
    assert '2 [label="2: program+0x2 ← program+0x9, 128 bytes"' in text
    assert re.findall(r"(\d+) -> (\d+) \[weight=(\d+)", text) == [
        ("2", "1", "5"),
        ("1", "2", "3"),
        ("0", "0", "1"),
    ]


def test_the_graph_without_conflicts_is_empty(tmp_path: Path) -> None:
    output = tmp_path / "c.dot"
    assert main(["conflicts", few(tmp_path / "p.profile", 0), "--dot", str(output)]) == 0
    assert "label" not in output.read_text()


def test_the_picture_compares_with_an_even_spread(tmp_path: Path) -> None:
    path, output = saved(tmp_path / "p.profile"), tmp_path / "c.svg"
    assert main(["conflicts", path, "--picture", str(output)]) == 0
    text = words(output.read_bytes())
    for expected in ("slot of the first cache", "share of uses, %", "spread", "64 bytes"):
        assert expected in text
    assert "2 states have conflict misses" in text
    again = output.read_bytes()
    assert main(["conflicts", path, "--picture", str(output)]) == 0
    assert output.read_bytes() == again
    png = tmp_path / "c.PNG"
    assert main(["conflicts", path, "--picture", str(png)]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_the_picture_groups_further_states(tmp_path: Path) -> None:
    states = [state(None, 0)] + [state(0, 8 * size, conflict=1) for size in range(1, 10)]
    path = saved(tmp_path / "p.profile", states=states, pairs=[[1, 1, 18, 18, 0]])
    output = tmp_path / "c.svg"
    assert main(["conflicts", path, "--picture", str(output)]) == 0
    text = words(output.read_bytes())
    assert "6: program" in text and "7: program" not in text
    assert "all other states with conflict misses" in text


def test_the_picture_without_conflicts_has_the_spread(tmp_path: Path) -> None:
    path, output = few(tmp_path / "p.profile", 0), tmp_path / "c.svg"
    assert main(["conflicts", path, "--picture", str(output)]) == 0
    assert "0 states have conflict misses" in words(output.read_bytes())


@pytest.mark.parametrize(
    ("status", "sentence", "arguments"),
    [
        (BAD_INPUT, "record it with: halo record --conflicts", ["plain"]),
        (BAD_PROFILE, "missing cannot be read", ["missing"]),
        (USAGE, "takes a profile and no program", ["good", "--", "prog"]),
        (USAGE, "end the name in .pdf, .svg, .png", ["good", "--picture", "x.gif"]),
        (BAD_INPUT, "is a directory", ["good", "--json", "."]),
        (BAD_INPUT, "does not exist; make it first", ["good", "--dot", "no/x.dot"]),
        (BAD_INPUT, "does not exist; make it first", ["good", "--picture", "no/x.svg"]),
        (USAGE, "not a whole number", ["good", "--rows", "-1"]),
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
    saved(Path("good"))
    without_conflicts(Path("plain"))
    before = sorted(tmp_path.iterdir())
    assert main(["conflicts", *arguments]) == status
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1
    assert sentence in shown.err
    assert sorted(tmp_path.iterdir()) == before
