"""What the tests of measured runs have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.measure.runs.laboratory import Laboratory
from halo.measure.runs.launcher import Launcher


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[Laboratory]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with Launcher() as launcher:
        yield Laboratory(read_settings(), launcher, scratch, tmp_path / "evidence")
