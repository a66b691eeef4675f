"""The inputs of Debian's programs for `halo bench`; the programs need not be installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.measure.bundled import Bundled, list_bundled
from support.command import REPOSITORY

PROGRAMS = [bundled for bundled in list_bundled(read_settings()) if bundled.package]
ROLES = ("train", "valid", "ref")


def make(generator: str, folder: Path, hash_seed: str) -> dict[str, bytes]:
    """The files of a generator, by name."""
    folder.mkdir()
    command = [sys.executable, str(REPOSITORY / "bench" / "programs" / generator), str(folder)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def words_of(bundled: Bundled, role: str) -> list[str]:
    """The arguments of a role, and the path of its standard input."""
    return [*getattr(bundled, role), getattr(bundled, f"{role}_stdin")]


def names(bundled: Bundled, role: str) -> list[str]:
    """The files that these words name."""
    return re.findall(r"\{inputs\}/([\w.]+)", " ".join(words_of(bundled, role)))


def content(bundled: Bundled, role: str, files: Mapping[str, bytes]) -> list[str | bytes]:
    """What the program gets: its files, and the arguments that name none."""
    plain = [word for word in words_of(bundled, role) if "{inputs}" not in word]
    return [*(files[name] for name in names(bundled, role)), *plain]


def size(bundled: Bundled, role: str, files: Mapping[str, bytes]) -> int:
    return sum(len(files[name]) for name in names(bundled, role))


@pytest.mark.parametrize("generator", sorted({bundled.generator for bundled in PROGRAMS}))
def test_inputs_are_the_same_each_time_and_differ_by_role(generator: str, tmp_path: Path) -> None:
    """A plan is chosen on other data than it is measured on, but of the same scale."""
    files = make(generator, tmp_path / "one", "1")
    assert files == make(generator, tmp_path / "two", "2")
    for bundled in (one for one in PROGRAMS if one.generator == generator):
        assert {name for role in ROLES for name in names(bundled, role)} == set(files)
        train, valid, ref = (content(bundled, role, files) for role in ROLES)
        assert train != ref and valid != ref
        sizes = {role: size(bundled, role, files) for role in ROLES}
        assert sizes["train"] <= sizes["ref"]
        assert 0.7 < sizes["valid"] / sizes["ref"] < 1.4


def test_the_input_to_choose_on_has_the_options_of_the_measured_one() -> None:
    for bundled in PROGRAMS:
        if names(bundled, "valid") != names(bundled, "ref"):
            words = [word.replace("/valid.", "/ref.") for word in words_of(bundled, "valid")]
            assert words == words_of(bundled, "ref")


def test_every_package_is_installed_for_bench() -> None:
    text = (REPOSITORY / "scripts" / "packages.sh").read_text()
    found = re.search(r"^bench_packages=\(([^)]*)\)", text, re.MULTILINE)
    assert found is not None
    assert {bundled.package for bundled in PROGRAMS} <= set(found[1].split())
