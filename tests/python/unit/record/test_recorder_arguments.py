"""The arguments of the recorder, from the options of its sinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.record.parts import Limits
from halo.record.sink_options import SINK_OPTIONS


def test_options_of_sinks_reach_the_recorder(tmp_path: Path) -> None:
    limits = Limits(4096, {"conflicts": "this", "conflicts_every_use": 1, "objects": 1})
    found = dict(it.split("=", 1) for it in limits.arguments(tmp_path))
    assert found["max_object"] == "4096"
    assert found["conflicts"] == "this"
    assert found["conflicts_every_use"] == "1"
    assert found["objects"] == str(tmp_path / "recorded.objects")
    given = {it.name for it in SINK_OPTIONS if it.default != ""}
    assert given <= found.keys(), "defaults are passed on unless they are empty"


def test_an_option_that_no_sink_has_is_refused() -> None:
    with pytest.raises(KeyError, match="every_reuse"):
        Limits(sinks={"conflicts_every_reuse": 1})
