"""An ordinary program to examine."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command import compile_c
from support.doctor import ALLOCATES


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(ALLOCATES, tmp_path_factory.mktemp("plain") / "plain")
