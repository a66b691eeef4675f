"""Aged heaps, the parts without a program: settings, the detector's file, the log, samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, LitterFailed, UsageError
from halo.base.schema.aged import Split
from halo.base.schema.detection import CLASSES
from halo.measure.aging import Litter, detect_environment, parse_litter, read_detection, read_log
from halo.measure.runs.allocator_share import allocator_objects, split_of

LOG = {
    "outcome": "littered",
    "problem": "",
    "seconds": 0.5,
    "user_seconds": 0.3,
    "system_seconds": 0.1,
    "program_start": 100.25,
    "program_seconds": 2.5,
}


def detection(**changes: Any) -> dict[str, Any]:
    bins = [0] * CLASSES
    bins[24], bins[CLASSES - 1] = 90, 10
    found = {
        "format": "halo-detector",
        "version": 1,
        "program": "/bin/prog",
        "allocations": 100,
        "mean": 2021.6,
        "minimum": 24,
        "maximum": 30000,
        "max_live_allocations": 40,
        "larger_bytes": 200000,
        "bins": bins,
        "groups": [[[24, 60]], []],
    }
    return {**found, **changes}


def written(folder: Path, value: Any) -> Path:
    path = folder / "detector.out"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_detection_is_read(tmp_path: Path) -> None:
    found = read_detection(written(tmp_path, detection()))
    assert (found.allocations, found.max_live_allocations, found.maximum) == (100, 40, 30000)
    assert (found.bins[24], found.bins[-1], sum(found.bins)) == (90, 10, 100)
    assert found.grouped == (60, 0)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("", "is not a detector's output"),
        (json.dumps(detection())[:-9], "cut short"),
        ("[" * 100_000, "is not a detector's output"),
        ("[]", "is not a detector's output"),
        (detection(format="halo-results"), "is not a detector's output"),
        (detection(version=2), "version 2"),
        (detection(version="1"), "no version"),
        (detection(bins=[0] * CLASSES), "damaged"),
        (detection(bins=[100]), "damaged"),
        (detection(allocations=-1), "damaged"),
        (detection(allocations=True), "damaged"),
        (detection(max_live_allocations=None), "damaged"),
        (detection(groups=[[[24, 91]]]), "damaged"),
        (detection(groups=[[[24, 60]], [[24, 31]]]), "damaged"),
        (detection(groups=[[24]]), "damaged"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, value: Any, what: str) -> None:
    path = written(tmp_path, value)
    with pytest.raises(BadInput, match=what) as caught:
        read_detection(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        read_detection(tmp_path / "nothing")
    with pytest.raises(BadInput, match="is a folder"):
        read_detection(tmp_path)


def test_settings_are_parsed() -> None:
    assert parse_litter("") == Litter()
    text = "occupancy=0.5,multiplier=2,seed=18446744073709551615,shuffle=no,groups=yes,data=a.out"
    assert parse_litter(text) == Litter(0.5, 2.0, 2**64 - 1, False, True, Path("a.out"))
    for one in (Litter(), parse_litter(text), Litter(0.123456789, 123456.5, seed=0)):
        assert parse_litter(one.option()) == one


@pytest.mark.parametrize(
    "text",
    [
        *("occupancy=1.01", "occupancy=-0.1", "occupancy=nan", "occupancy=", "occupancy"),
        *("multiplier=-1", "multiplier=1e7", "multiplier=inf", "seed=-1", "seed=1.5", "seed="),
        *("seed=18446744073709551616", "seed=²", "shuffle=1", "groups=maybe", "occupance=0.5"),
    ],
)
def test_bad_settings_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_litter(text)


def test_environments_name_the_program_and_put_the_library_first(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    program.touch()
    link = tmp_path / "link"
    link.symlink_to(program)
    base = {"LD_PRELOAD": "/lib/users.so"}
    environment = detect_environment(base, Path("/lib/libhalo-detector.so"), link, tmp_path / "out")
    assert environment["LD_PRELOAD"] == "/lib/libhalo-detector.so:/lib/users.so"
    assert environment["HALO_DETECTOR_PROGRAM"] == str(program)
    litter = Litter(0.1, 3.0, data=tmp_path / "out")
    environment = litter.environment(base, Path("/lib/libhalo-litterer.so"), link, tmp_path / "log")
    assert environment["LD_PRELOAD"] == "/lib/libhalo-litterer.so:/lib/users.so"
    assert environment["HALO_LITTER_PROGRAM"] == str(program)
    assert environment["HALO_LITTER_OCCUPANCY"] == "0.1"
    assert environment["HALO_LITTER_MULTIPLIER"] == "3.0"
    assert "HALO_LITTER_SEED" not in environment
    seeded = replace(litter, seed=7).environment(base, Path("/lib/l.so"), link, tmp_path / "log")
    assert seeded["HALO_LITTER_SEED"] == "7"


def log(folder: Path, **changes: Any) -> Path:
    return written(folder, {**LOG, **changes})


def test_a_log_is_read(tmp_path: Path) -> None:
    assert read_log(log(tmp_path), "prog").program_seconds == 2.5
    without = {key: value for key, value in LOG.items() if key != "program_seconds"}
    assert read_log(written(tmp_path, without), "prog").program_seconds is None


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({**LOG, "outcome": "not littered", "problem": "the occupancy 7 is bad"}, "is bad"),
        ({**LOG, "outcome": "in part", "problem": "memory was refused"}, "in part only: memory"),
        ("{", "not loaded"),
        ({"outcome": "littered"}, "not loaded"),
        ([], "not loaded"),
    ],
)
def test_a_heap_that_was_not_aged_is_a_failure(tmp_path: Path, value: Any, what: str) -> None:
    with pytest.raises(LitterFailed, match=what):
        read_log(written(tmp_path, value), "prog")
    with pytest.raises(LitterFailed, match="not loaded"):
        read_log(tmp_path / "nothing", "prog")


SAMPLES = """\
    99.000000:      7f0000001000 (/usr/lib/libjemalloc.so.2)
   100.300000:      7f0000001000 (/usr/lib/libjemalloc.so.2)
   100.400000:      550000001000 (/tmp/a folder/prog)
   100.500000:      7f0000002000 (/usr/lib/libhalo.so)
   100.600000:      ffffffff8100 ([unknown])
a line that is none
""".splitlines()


def test_samples_count_by_shared_object_from_the_start_on() -> None:
    split = split_of(SAMPLES, 100.25, ["libjemalloc.so.2", "libhalo.so"])
    assert split == Split(0.5, 0.5, 4)
    assert split_of(SAMPLES, 100.25, ["libc.so.6"]) == Split(0.0, 1.0, 4)
    assert split_of(SAMPLES, 200.0, ["libc.so.6"]) is None


def test_the_allocator_is_its_library_and_the_runtime_under_a_plan() -> None:
    assert allocator_objects({}, None) == ["libc.so.6"]
    planned = allocator_objects({"HALO_PLAN": "p"}, Path("/lib/libx.so"))
    assert {"libx.so", "libhalo.so", "libhalo-extra.so"} == set(planned)
