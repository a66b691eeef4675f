"""A folder and an engine to record programs with."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.engines import ENGINE_NAMES
from support.recordings import Workshop


@pytest.fixture(params=ENGINE_NAMES)
def workshop(tmp_path: Path, request: pytest.FixtureRequest) -> Workshop:
    return Workshop(tmp_path, request.param)
