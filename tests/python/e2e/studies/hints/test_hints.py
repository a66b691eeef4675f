"""`halo study hints`: verdicts about real programs, and refusals."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from halo.base.settings import read_settings
from halo.studies.hints.document import TypeHint
from halo.studies.hints.run import HintOptions, Prepared, find_hints, prepare
from support.command import REPOSITORY, halo
from support.traces import instrumented, rows, trace_of, write_trace

VERDICTS = {
    "keyed": "use hint",
    "ascending": "already laid out so",
    "late": "correlated, but not known at allocation",
    "shuffled": "no correlation",
    "sized": "bin by size",
    "record": "objects move",
    "bucket": "objects are array elements",
    "unsigned char": "opaque buffers",
}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of tests/programs/hints/verdicts.c."""
    folder = tmp_path_factory.mktemp("verdicts")
    source = REPOSITORY / "tests" / "programs" / "hints" / "verdicts.c"
    compiler = str(REPOSITORY / "bin" / "halo-cc")
    flags = ["-g", "-O2", "-fno-slp-vectorize"]
    subprocess.run([compiler, *flags, str(source), "-o", str(folder / "verdicts")], check=True)
    return trace_of(folder / "verdicts", folder / "trace")


@pytest.fixture(scope="module")
def prepared(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(read_settings(), trace, tmp_path_factory.mktemp("prepared"))


@pytest.fixture(scope="module")
def judged(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, TypeHint]:
    """All types, judged by few trees, as these are enough for objects so few."""
    options, folder = HintOptions(trees=(20,)), tmp_path_factory.mktemp("judged")
    document = find_hints(read_settings(), prepared, options, folder, lambda kind: None)
    return {one.type: one for one in document.types}


def test_each_type_has_its_verdict(judged: Mapping[str, TypeHint]) -> None:
    assert {name: one.verdict for name, one in judged.items()} == VERDICTS


def test_the_hint_is_the_key_with_the_call_to_write(judged: Mapping[str, TypeHint]) -> None:
    keyed = judged["keyed"]
    assert keyed.accuracy is not None and keyed.accuracy.top1 > 0.8
    assert keyed.classes == 10
    first = keyed.features[0]
    assert (first.name, first.group, first.at_birth) == ("key", "primary", True)
    assert [one.field for one in keyed.hint] == ["key"]
    assert keyed.hint[0].width < 1000, "a typedef of double is read as one"
    assert keyed.call.startswith("tidy_alloc(ctx, sizeof(keyed), (unsigned[]){tidy_bin(key, ")
    source = (REPOSITORY / "tests" / "programs" / "hints" / "verdicts.c").read_text().split("\n")
    (place,) = keyed.places
    assert "malloc(sizeof(struct keyed))" in source[int(place.rpartition(":")[2]) - 1]


def test_a_field_that_is_written_later_is_not_known(judged: Mapping[str, TypeHint]) -> None:
    fields = {one.name: one for one in judged["late"].features}
    assert fields["group"].known_share < 0.1 and not fields["group"].at_birth
    assert fields["number"].at_birth
    assert judged["late"].features[0].name == "group"


def test_the_command_prints_and_writes_the_same_as_before(trace: Path, tmp_path: Path) -> None:
    found = []
    for name in ("one.json", "two.json"):
        outcome = halo(
            "study", "hints", "--type", "bucket", "--json", name, str(trace), cwd=tmp_path
        )
        assert outcome.status == 0, outcome.stderr
        assert "objects are array elements" in outcome.stdout
        found.append((tmp_path / name).read_text())
    assert found[0] == found[1]
    assert json.loads(found[0])["types"][0]["type"] == "bucket"


def test_objects_have_the_numbers_of_the_dataset(prepared: Prepared) -> None:
    large = {row["object"] for row in rows(prepared.dataset, "allocations") if row["bytes"] > 4096}
    assert large
    accessed = {row["object"] for row in rows(prepared.dataset, "accesses")} - large - {0}
    assert set(prepared.layout.objects.tolist()) == accessed


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--type", "nothing*"), 117, "nothing*"),
        (("--level", "0"), 111, "0"),
        (("--seed", "-1"), 111, "--seed"),
    ],
)
def test_bad_options_are_one_sentence(
    trace: Path, arguments: tuple[str, ...], status: int, words: str
) -> None:
    outcome = halo("study", "hints", *arguments, str(trace))
    assert outcome.status == status
    assert words in outcome.stderr and outcome.stderr.count("\n") == 1


def test_a_phase_changes_nothing_but_adds_its_prediction(
    trace: Path, prepared: Prepared, judged: Mapping[str, TypeHint], tmp_path: Path
) -> None:
    options = HintOptions(types="keyed", trees=(20,))
    with_phase = prepare(read_settings(), trace, tmp_path, "main")
    assert np.array_equal(with_phase.layout.communities, prepared.layout.communities)
    documents = [
        find_hints(read_settings(), one, options, tmp_path, lambda kind: None)
        for one in (prepared, with_phase)
    ]
    assert documents[0].types == documents[1].types == (judged["keyed"],)
    assert documents[0].predicted == documents[1].predicted == documents[1].predicted_phase
    assert documents[0].predicted_phase is None


def test_a_phase_that_is_not_entered_is_one_sentence(trace: Path) -> None:
    outcome = halo("study", "hints", "--phase", "nosuch", str(trace))
    assert outcome.status == 117
    assert "nosuch" in outcome.stderr and outcome.stderr.count("\n") == 1


def test_traces_that_tell_nothing_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("nothing")
    (tmp_path / "nothing").touch()
    write_trace(tmp_path / "empty", "")
    for name, status, words in (
        ("missing", 117, "does not exist"),
        ("other", 121, "halo-cc -g"),
        ("nothing", 121, "halo-cc -g"),
        (".", 121, "halo-cc -g"),
        ("empty", 117, "no accesses to heap objects"),
    ):
        outcome = halo("study", "hints", "--json", "found.json", name, cwd=tmp_path)
        assert outcome.status == status, outcome.stderr
        assert words in outcome.stderr and outcome.stderr.count("\n") == 1
    assert not (tmp_path / "found.json").exists()


def test_types_and_levels_that_do_not_exist_are_told_with_those_that_do(trace: Path) -> None:
    outcome = halo("study", "hints", "--type", "nosuch", str(trace))
    assert outcome.status == 117
    assert "matches nosuch; the trace has:" in outcome.stderr and "bucket" in outcome.stderr
    outcome = halo("study", "hints", "--type", "keyed", "--level", "60", str(trace))
    assert outcome.status in {0, 1}, outcome.stderr
    assert "Level 60 does not have" in " ".join(outcome.stdout.split())


def test_without_scikit_learn_the_extra_is_named(tmp_path: Path) -> None:
    shadow = tmp_path / "sklearn.py"
    shadow.write_text("raise ImportError('no module')\n")
    starter = "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.path.insert(0, sys.argv.pop(1))"
    code = f"{starter}\nfrom halo.cli.main import main\nsys.exit(main())"
    python = REPOSITORY / ".venv" / "bin" / "python3"
    command = [str(python), "-I", "-c", code, str(REPOSITORY), str(tmp_path), "hints", "a.trace"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 114
    assert "[learn]" in outcome.stderr and outcome.stderr.count("\n") == 1


def test_a_trace_that_is_cut_short_is_used_as_far_as_it_goes(trace: Path, tmp_path: Path) -> None:
    content = trace.read_bytes()
    (tmp_path / "short").write_bytes(content[: len(content) * 4 // 5])
    for command in (("hints", "--type", "bucket"), ("layout",)):
        outcome = halo(*command, str(tmp_path / "short"))
        assert outcome.status in {0, 1}, outcome.stderr
        assert "The trace is cut short" in outcome.stdout


def test_layout_takes_the_trace_too(trace: Path) -> None:
    outcome = halo("study", "layout", str(trace))
    assert outcome.status in {0, 1}, outcome.stderr
    assert "as-recorded" in outcome.stdout


WALK = "(anonymous namespace)::walk"


def test_mesh_is_placed_by_its_coordinates(tmp_path: Path) -> None:
    program = instrumented("mesh", tmp_path, "-fno-slp-vectorize")
    trace = trace_of(program, tmp_path / "trace", "32", "32", "4000", "1")
    prepared = prepare(read_settings(), trace, tmp_path, WALK)
    options = HintOptions(types="mesh::Node", trees=(20,))
    document = find_hints(read_settings(), prepared, options, tmp_path, lambda kind: None)
    (node,) = document.types
    assert {one.name for one in node.features[:2]} == {"x", "y"}
    assert node.accuracy is not None
    assert node.accuracy.top1 >= 0.7 and node.accuracy.top5 >= 0.95
    assert (node.verdict, sorted(one.field for one in node.hint)) == ("use hint", ["x", "y"])
    predicted = document.predicted
    assert predicted is not None and 0 < predicted.hinted != predicted.ignored
    walk = document.predicted_phase
    assert document.phase == WALK and walk is not None
    assert 0 < walk.hinted < predicted.hinted and 0 < walk.ignored < predicted.ignored
    assert 0 < walk.recorded < predicted.recorded
    places = {dim.field: (dim.owner, dim.path, dim.scalar) for dim in node.hint}
    assert places == {"x": ("mesh::Node", (0,), "f64"), "y": ("mesh::Node", (8,), "f64")}
