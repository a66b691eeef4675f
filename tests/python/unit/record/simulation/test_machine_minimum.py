"""Lines and pages of a machine file have at least one byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.record.simulation import machine_text


@pytest.mark.parametrize("key", ["line", "page"])
def test_lines_and_pages_are_not_empty(key: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f"{key} = 0\n")
    with pytest.raises(BadInput, match=f"has no {key} from 1 to"):
        machine_text(path)
