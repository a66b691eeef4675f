"""Moving the files of a deployment to their place: all of them, or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from halo.ship.deployment import folder as module


def test_a_failure_in_between_moves_all_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging, output = tmp_path / "staging", tmp_path / "output"
    staging.mkdir()
    output.mkdir()
    for name in ("a", "b", "c"):
        (staging / name).write_text(name)
    done: list[str] = []

    def rename(source: Path, to: Path) -> None:
        done.append(source.name)
        if len(done) == 2:
            raise KeyboardInterrupt("SIGTERM")
        os.replace(source, to)

    monkeypatch.setattr("os.rename", rename)
    with pytest.raises(KeyboardInterrupt):
        module._move_files(staging, output)
    assert list(output.iterdir()) == []
    assert {path.name for path in staging.iterdir()} == {"a", "b", "c"}
