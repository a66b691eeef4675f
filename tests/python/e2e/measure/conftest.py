"""What the tests of measured runs have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from halo.base.settings import read_settings
from halo.measure.runs.launcher import Launcher
from halo.measure.runs.trial_runner import TrialRunner


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[TrialRunner]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with Launcher() as launcher:
        yield TrialRunner(read_settings(), launcher, scratch, tmp_path / "evidence")
