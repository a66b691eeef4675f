"""What other commands have found on the page of `halo report`: layouts, hints and predictions."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import msgspec
import pytest

from halo.base.errors import BadInput
from halo.base.files.kinds import kind_of
from halo.base.schema.aged import AgedSummary
from halo.base.schema.check import CheckSummary
from halo.base.schema.probe import ProbeSummary
from halo.base.schema.summary import Summary
from halo.cli.registry import every_command
from halo.report import render_report
from halo.report.documents import SHOWN_BY, reader_of, refuse_unshown
from halo.report.figures.registry import FIGURES
from halo.report.results import read_measurements
from halo.report.results.reader import RESULTS
from halo.studies.search.document import LoadedTrace, Predicted, PredictionDocument
from support.command import REPOSITORY
from support.report_pages import checked
from support.samples.hints import feature, hints_result, learnt
from support.samples.layouts import layout_result, replayed_layout


def text_of(*paths: Path) -> str:
    readers = [(reader_of(path), path) for path in paths]
    return checked(render_report([], [reader(path) for reader, path in readers if reader]))


def layout(path: Path) -> Path:
    return layout_result(
        path,
        replayed_layout("as-recorded", "recorded", 100, L1D=200, DTLB=0),
        replayed_layout("hml", "dense", 20, L1D=1, DTLB=1),
        replayed_layout("hml", "reuse", 60, L1D=50, DTLB=0),
    )


def predicted(cycles: int, misses: int) -> Predicted:
    return Predicted(name="0", accesses=90, cycles=cycles, peak_bytes=4096, misses={"L1D": misses})


def test_a_layout_has_its_verdict_and_every_order(tmp_path: Path) -> None:
    text = text_of(layout(tmp_path / "layout.json"))
    assert "The order hml would save 40%" in text
    assert "hml dense 0.2" in text and "hml reuse 0.6 0.25 0" in text


def test_hints_have_a_sentence_and_a_part_for_each_type(tmp_path: Path) -> None:
    node = learnt("Node", feature("x", "primary", 0.75, 1.0), feature("late", "primary", 0.25, 0.5))
    text = text_of(hints_result(tmp_path / "hints.json", learnt("Buffer"), node))
    assert "Node: use hint." in text and "Buffer: " not in text
    assert "0.250 not known at birth" in text
    assert "17 communities of level 1" in text


def test_predictions_name_the_best_plan(tmp_path: Path) -> None:
    document = PredictionDocument(
        program="/usr/bin/prog",
        arguments=("1",),
        trace=LoadedTrace(accesses=100, kept=90),
        without=predicted(1000, 50),
        plans={"/plans/a.plan": predicted(1200, 60), "/plans/b.plan": predicted(800, 25)},
    )
    (tmp_path / "predicted.json").write_bytes(msgspec.json.encode(document))
    text = text_of(tmp_path / "predicted.json")
    assert "b.plan has 0.80 times the modelled cycles" in text
    assert "/plans/a.plan 1.2 1.2 4,096" in text


def test_several_documents_stand_on_one_page(tmp_path: Path) -> None:
    text = text_of(
        layout(tmp_path / "layout.json"),
        hints_result(tmp_path / "hints.json", learnt("Node", feature("x", "primary", 1, 1))),
    )
    assert "2 programs" in text and "Details" in text


def predictions(path: Path, **plans: Predicted) -> Path:
    document = PredictionDocument(
        program="/usr/bin/prog",
        arguments=(),
        trace=LoadedTrace(accesses=100, kept=90),
        without=predicted(1000, 50),
        plans=plans,
    )
    path.write_bytes(msgspec.json.encode(document))
    return path


def test_documents_that_lack_a_part_are_refused(tmp_path: Path) -> None:
    other_levels = msgspec.structs.replace(predicted(1, 1), misses={"L2": 1})
    unlearnt = msgspec.structs.replace(learnt("Node", feature("x", "primary", 1, 1)), known=None)
    recorded = replayed_layout("as-recorded", "recorded", 100, L1D=200)
    for path, words in (
        (predictions(tmp_path / "a"), "no plans"),
        (predictions(tmp_path / "b", a=other_levels), "different levels"),
        (hints_result(tmp_path / "c", unlearnt), "features without accuracies"),
        (layout_result(tmp_path / "d"), "no replays"),
        (layout_result(tmp_path / "e", recorded), "lacks the recorded layout, or other orders"),
        (
            layout_result(tmp_path / "f", recorded, replayed_layout("hml", "reuse", L2=1)),
            "different levels",
        ),
    ):
        reader = reader_of(path)
        assert reader is not None
        with pytest.raises(BadInput, match=words):
            reader(path)


def test_other_and_damaged_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    assert reader_of(tmp_path / "other.json") is None
    path = layout(tmp_path / "layout.json")
    path.write_text(path.read_text()[:80])
    reader = reader_of(path)
    assert reader is not None
    with pytest.raises(BadInput, match=r"cut short or damaged; run halo study layout again"):
        reader(path)


def test_every_document_is_shown_or_has_a_command_that_does(tmp_path: Path) -> None:
    """`halo report` names no command that does not exist, and calls no file of halo's foreign."""
    text = "".join(path.read_text() for path in (REPOSITORY / "halo").rglob("*.py"))
    formats = set(re.findall(r'^FORMAT, VERSION = "(halo-[a-z]+)"', text, re.MULTILINE))
    assert len(formats) > 12
    names = {name for name, _ in every_command()}
    for name in sorted(formats | {"halo-profile", "halo-plan"}):
        path = tmp_path / f"{name} it.json"
        path.write_text(json.dumps({"format": name, "version": 1}))
        if kind_of(path) not in SHOWN_BY:
            refuse_unshown(path)
            if name != RESULTS.format and reader_of(path) is None:
                with pytest.raises(BadInput, match=f"is a halo {kind_of(path)}, not a results"):
                    read_measurements([path])
            continue
        with pytest.raises(BadInput) as found:
            refuse_unshown(path, "bin/halo")
        _, see, command = str(found.value).partition("; see: ")
        halo, *words, last = shlex.shlex(command, posix=True, punctuation_chars=True)
        assert see and halo == "bin/halo" and last == str(path)
        assert words[0] in names, command
        assert words[1:] == [] or words[1] in {figure.name for figure in FIGURES}


@pytest.mark.parametrize(
    ("type_", "says"),
    [
        (CheckSummary, "halo check"),
        (ProbeSummary, "halo probe"),
        (Summary, "lacks the trials"),
        (AgedSummary, "lacks the trials"),
    ],
)
def test_a_summary_is_named(tmp_path: Path, type_: type[msgspec.Struct], says: str) -> None:
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(dict.fromkeys(type_.__struct_fields__)))
    with pytest.raises(BadInput, match=says):
        refuse_unshown(path)
    path.write_text('{"program": "another"}')
    refuse_unshown(path)
