"""When the engine `native` can record, and when it has recorded nothing of use."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

import halo.record.native as native_module
from halo.base.errors import MissingPart
from halo.base.settings import Settings, read_settings
from halo.record.native import NativeProducer
from halo.record.producer import has_no_bursts
from halo.record.profile import SAMPLING, Profile, Sampling
from halo.record.profile.model import Parameters, Totals
from halo.record.registry import ENGINES, find_producer
from halo.record.valgrind import ValgrindProducer


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """All engines are built."""
    monkeypatch.setattr("halo.record.producer.check_built", lambda _: None)
    return replace(read_settings(), build=tmp_path)


def test_it_is_the_first_unless_everything_is_needed(settings: Settings) -> None:
    assert ENGINES[0].name == "native"
    assert find_producer(settings).name == "native"
    assert find_producer(settings, everything=True).name == "valgrind"


def test_without_memory_for_code_the_next_one_records(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(native_module, "mmap", refuse)
    with pytest.raises(MissingPart, match="memory for that is refused here"):
        NativeProducer().check(settings)
    assert find_producer(settings).name == "valgrind"


def test_a_recording_without_a_burst_is_noticed() -> None:
    empty = Profile("native", Parameters(128, 4096), (), (), (), (), ())
    allocated = replace(empty, totals=Totals(allocations=3))
    sampled = replace(allocated, sections={SAMPLING.key: Sampling(1, 0.0)})
    assert has_no_bursts(NativeProducer(), allocated)
    assert not has_no_bursts(NativeProducer(), sampled)
    assert not has_no_bursts(NativeProducer(), empty)
    assert not has_no_bursts(ValgrindProducer(), allocated)
