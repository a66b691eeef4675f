"""The generated inputs of bundled programs: complete, or not there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.base.settings import read_settings
from halo.measure import bundled

GENERATOR = "import sys, pathlib; pathlib.Path(sys.argv[1], {name!r}).write_text('1')\n"


def generate(folder: Path, text: str, second: int) -> Path:
    script = folder / "generator.py"
    script.write_text(text)
    os.utime(script, (second, second))
    bundled._generate(script, folder / "inputs" / "prog")
    return folder / "inputs" / "prog"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_new_generator_replaces_all_of_an_old_one(tmp_path: Path) -> None:
    inputs = generate(tmp_path, GENERATOR.format(name="old"), 1)
    assert names(inputs) == {"old", ".made-by-1"}
    (inputs / "old").write_text("mine")
    assert (generate(tmp_path, "raise SystemExit(1)", 1) / "old").read_text() == "mine"
    assert names(generate(tmp_path, GENERATOR.format(name="new"), 2)) == {"new", ".made-by-2"}
    assert names(inputs.parent) == {"prog"}


def test_a_generator_that_fails_leaves_nothing(tmp_path: Path) -> None:
    text = GENERATOR.format(name="half") + "sys.exit('no memory')"
    with pytest.raises(BadInput, match="no memory"):
        generate(tmp_path, text, 1)
    assert names(tmp_path / "inputs") == set()


def test_the_inputs_of_another_that_was_first_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bundled._run_generator

    def later(script: Path, folder: Path) -> None:
        monkeypatch.setattr(bundled, "_run_generator", made)
        bundled._generate(script, tmp_path / "inputs" / "prog")
        made(script, folder)

    monkeypatch.setattr(bundled, "_run_generator", later)
    inputs = generate(tmp_path, GENERATOR.format(name="one"), 1)
    assert names(inputs) == {"one", ".made-by-1"}
    assert names(inputs.parent) == {"prog"}


def test_what_chooses_is_not_what_is_answered_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without an input to choose on is chosen for where it is answered on."""
    settings = read_settings()
    monkeypatch.setattr(bundled, "_program", lambda *_: "/usr/bin/true")
    one = bundled.Bundled("p", "", "true", train=("s",), ref=("l", "1"), valid=("l", "2"))
    jobs = bundled.prepare_all(settings, one)
    assert [job.arguments for job in jobs] == [("s",), ("l", "2"), ("l", "1")]
    inputs = jobs.inputs()
    assert inputs.recorded == [jobs.train] and inputs.holds_out
    assert (inputs.measured, inputs.answered) == (jobs.valid, jobs.ref)
    two = bundled.prepare_all(settings, replace(one, valid=()))
    assert two.valid == two.ref and not two.inputs().holds_out
    assert two.inputs().measured == two.ref and two.inputs().recorded == [two.train]
