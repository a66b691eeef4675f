"""The generated inputs of bundled programs: complete, or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halo.errors import BadInput
from halo.trials import bundled

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
