"""Results are read back whole, and refused where no figure may be drawn of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.report.results import read_measurement, read_measurements
from support.samples.results import config, distances, document, save, simulation

Change = Callable[[dict[str, Any]], None]


def test_what_halo_evaluate_adds_is_read(tmp_path: Path) -> None:
    raw = document(
        configurations={"halo": config("halo", plan="halo.plan")},
        simulation=simulation({"glibc": 1.0, "halo": 0.5}),
        distances=distances(1.5, 1.4),
    )
    raw["training_trials_of_configurations"] = raw["trials"]["reference"]
    raw["trials"]["reference"]["glibc"][0]["counters"] = {"dTLB-load-misses": 5}
    found = read_measurement(save(raw, tmp_path / "r"))
    assert found.configurations["halo"].plan == "halo.plan"
    simulated, at = found.results.simulation, found.results.distances
    assert simulated is not None
    assert simulated.configurations["halo"].misses["L1D"] == 500
    assert simulated.machine.caches[0].ways == 8
    assert simulated.contexts[0].context == 0
    assert at is not None
    assert [point.distance for point in at.points] == [8, 16]
    assert found.results.training["halo"][0].wall == 1.0
    assert found.reference["glibc"][0].counters == {"dTLB-load-misses": 5}


def drop(*keys: str) -> Change:
    def change(raw: dict[str, Any]) -> None:
        for key in keys[:-1]:
            raw = raw[key]
        del raw[keys[-1]]

    return change


def put(value: object, *keys: str) -> Change:
    def change(raw: dict[str, Any]) -> None:
        for key in keys[:-1]:
            raw = raw[key]
        raw[keys[-1]] = value

    return change


def simulated_with(value: object, *keys: str) -> Change:
    def change(raw: dict[str, Any]) -> None:
        raw["simulation"] = simulation({"glibc": 1.0, "halo": 0.5})
        put(value, "simulation", *keys)(raw)

    return change


def shorten(raw: dict[str, Any]) -> None:
    raw["trials"]["reference"]["tcmalloc"].pop()


def one_distance_short(raw: dict[str, Any]) -> None:
    raw["distances"] = distances(1.5, 1.4)
    raw["distances"]["points"][1]["trials"].pop()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("halo-profile", "format"), "is a halo profile, not a results file"),
        (put(3, "version"), "use the newer halo"),
        (drop("version"), "has no version"),
        (drop("summary"), "summary is missing"),
        (drop("trials"), "trials is missing"),
        (put([], "machine"), "machine is not an object"),
        (put(None, "machine", "kernel"), "machine.kernel is not a text"),
        (put([{"wall": "1"}], "trials", "reference", "halo"), "wall is not a number"),
        (put([{"wall": float("nan")}], "trials", "reference", "halo"), "wall is not a number"),
        (put([{"wall": 10**400}], "trials", "reference", "halo"), "wall is impossibly large"),
        (put([{"wall": float("inf")}], "trials", "reference", "halo"), "wall is impossibly large"),
        (put([{"wall": 1e308}], "trials", "reference", "halo"), "wall is impossibly large"),
        (put(10**400, "machine", "cores"), "machine.cores is impossibly large"),
        (put(-1, "machine", "cores"), "machine.cores is negative"),
        (put([{"wall": 0}], "trials", "reference", "halo"), "halo[0].wall is not more than 0"),
        (put({}, "simulation"), "simulation.input is missing"),
        (simulated_with({}, "configurations"), "simulation has no configurations"),
        (simulated_with([], "machine", "tlbs"), "simulation.machine.tlbs is empty"),
        (simulated_with({"L1D": 1}, "configurations", "glibc", "misses"), "has no misses of 'L2'"),
        (put({}, "trials", "reference"), "no trials on the reference input"),
        (put([], "trials", "reference", "halo"), "0 trials of halo and 3 of"),
        (shorten, "2 trials of tcmalloc and 3 of"),
        (drop("trials", "reference", "halo"), "was not measured on the reference input"),
        (one_distance_short, "1 trials of distance 16 and 2 of"),
        (put("It crashed.", "summary", "failure"), "failed: It crashed; fix that"),
        (put(False, "summary", "outputs_equal"), "outputs differed between trials"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: Change, words: str) -> None:
    raw = document()
    change(raw)
    folder = save(raw, tmp_path / "r")
    with pytest.raises(BadInput) as caught:
        read_measurement(folder)
    sentence = str(caught.value)
    assert words in sentence
    assert str(folder) in sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a results file"),
        (b"\xff\x00", "is not a results file"),
        (b"[1, 2]", "is not a results file"),
        (b'{"format": "halo-results", "version": 1, "tri', "cut short or damaged"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words):
        read_measurement(path)


def test_a_wrong_place_is_put_right(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        read_measurement(tmp_path / "none")
    with pytest.raises(BadInput, match=r"holds no results\.json"):
        read_measurement(tmp_path)
    save(document(), tmp_path / "one")
    with pytest.raises(BadInput, match=r"holds folders of results; give them: .*/\* .*one"):
        read_measurement(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("Another", "machine", "processor"), "their processors are"),
        (put(1024, "machine", "cores"), "their numbers of cores are"),
        (put("1.0", "machine", "kernel"), "their kernels are"),
        (put("never so", "machine", "huge_pages", "enabled"), "their settings of huge pages are"),
        (put("0", "machine", "versions", "halo"), "their versions of halo are"),
        (put("0", "machine", "versions", "jemalloc"), "their versions of jemalloc are"),
        (put("one", "summary", "program"), "both of the program one; give one of them"),
    ],
)
def test_what_does_not_belong_together(tmp_path: Path, change: Change, words: str) -> None:
    first, second = document("one"), document("two")
    change(second)
    paths = [save(first, tmp_path / "1"), save(second, tmp_path / "2")]
    with pytest.raises(BadInput, match=words):
        read_measurements(paths)


def test_other_differences_of_the_machine_do_no_harm(tmp_path: Path) -> None:
    second = document("two")
    second["machine"]["load_average"] = [0.9, 0.9, 0.9]
    second["machine"]["versions"]["python"] = "3.99"
    paths = [save(document("one"), tmp_path / "1"), save(second, tmp_path / "2")]
    assert [m.program for m in read_measurements(paths)] == ["one", "two"]


def test_version_1_is_read_with_its_own_keys(tmp_path: Path) -> None:
    raw = document(
        configurations={"halo": config("halo", plan="halo.plan")},
        simulation=simulation({"glibc": 1.0, "halo": 0.5}),
    )
    expected = read_measurement(save(raw, tmp_path / "new"))
    raw["version"] = 1
    raw["contenders"] = raw.pop("configurations")
    raw["simulation"]["contenders"] = raw["simulation"].pop("configurations")
    found = read_measurement(save(raw, tmp_path / "old"))
    assert found.configurations == expected.configurations != {}
    assert found.results.simulation == expected.results.simulation is not None
