"""Which engines are tried, and in which order."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from halo.base.errors import MissingPart
from halo.base.settings import Settings, read_settings
from halo.record import registry
from halo.record.registry import find_producer, usable_engines


def engine(name: str, missing: str = "") -> Any:
    def check(_: Settings) -> None:
        if missing:
            raise MissingPart(missing)

    return SimpleNamespace(name=name, check=check)


def names(monkeypatch: pytest.MonkeyPatch, chosen: str, *engines: Any) -> tuple[list[str], Any]:
    monkeypatch.setattr(registry, "ENGINES", engines)
    monkeypatch.setattr(registry, "PRODUCERS", engines)
    found, missing = usable_engines(replace(read_settings(), engine_name=chosen))
    return [one.name for one in found], missing


def test_the_chosen_engine_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    both = engine("valgrind"), engine("other")
    assert names(monkeypatch, "", *both) == (["valgrind", "other"], {})
    assert names(monkeypatch, "other", *both) == (["other", "valgrind"], {})


def test_an_engine_that_does_not_work_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = names(monkeypatch, "", engine("valgrind"), engine("other", "it is too old"))
    assert found == (["valgrind"], {"other": "it is too old"})
    assert names(monkeypatch, "", engine("valgrind", "unbuilt"), engine("other"))[0] == ["other"]


def test_an_engine_of_bursts_does_not_count_where_everything_is_needed() -> None:
    settings = replace(read_settings(), engine_name="native")
    assert find_producer(settings).name == "native"
    assert find_producer(settings, everything=True).name == "valgrind"
    assert find_producer(settings, "native", everything=True).name == "native", "it refuses itself"
