"""Cells by hints of the unmodified mesh, against those by hints in its source."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from captured_cells import MIN_SHARE, compare

from halo.settings import read_settings

SETTINGS = read_settings()
SIZE = ("64", "64", "20000", "1")
MAX_CONTROL = 0.5
"""Of nodes that other intervals place alike."""


@pytest.mark.parametrize(("cc", "cxx"), [("gcc", "g++"), ("clang-19", "clang++-19")])
def test_nodes_have_the_cells_of_the_source_variant(tmp_path: Path, cc: str, cxx: str) -> None:
    bench, program = SETTINGS.bench, tmp_path / "mesh"
    options, arguments = ["-O2", f"-I{bench}"], tmp_path / "args.o"
    subprocess.run([cc, *options, "-c", bench / "common/args.c", "-o", arguments], check=True)
    sources = sorted((bench / "mesh").glob("*.cc"))
    inputs = map(str, (*sources, arguments))
    command = [cxx, *options, "-std=gnu++20", *inputs, "-o", str(program)]
    subprocess.run(command, check=True)
    same, control = compare(SETTINGS, program, SIZE, SIZE)
    assert same >= MIN_SHARE
    assert control < MAX_CONTROL
