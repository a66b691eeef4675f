"""Aged heaps are read back in order, compared with the clean heap, and refused where damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput
from halo.base.schema.aged import AllocatorKind, Split
from halo.report.results import Measurement, read_measurement
from halo.report.results.aged_metrics import (
    aged_events,
    aged_of,
    aged_series,
    fastest_clean_allocator,
    own_allocator,
)
from halo.report.results.metrics import evaluate, parse_metric
from support.samples.aged_results import CLEAN, GROUPS, LEVELS, aged, aged_document, median_seconds
from support.samples.results import document, save, simulation

Change = Callable[[dict[str, Any]], None]
RELATIVE = parse_metric("time@relative")


def read(tmp_path: Path, **of_aged: Any) -> Measurement:
    return read_measurement(save(aged_document(**of_aged), tmp_path / "r"))


def test_levels_are_read_from_the_clean_heap_to_the_most_holes(tmp_path: Path) -> None:
    found = read(tmp_path).results.aged
    assert found is not None
    assert [level.occupancy for level in found.levels] == [None, 0.99, 0.9, 0.5, 0.1, 0.01]
    assert [level.name for level in found.levels[:2]] == ["clean", "0.99"]
    assert (found.multiplier, found.shuffle, found.seed) == (1.0, True, 1)
    half = found.levels[3]
    assert half.trials["glibc"][1].wall == pytest.approx(1.1 * median_seconds("glibc", 0.5))
    assert half.split["glibc"] == Split(0.25, 0.75, 1000)


def test_every_run_may_have_had_another_seed(tmp_path: Path) -> None:
    raw = aged_document()
    raw["aged"]["seed"] = None
    assert aged_of(read_measurement(save(raw, tmp_path / "r"))).seed is None


def test_configurations_are_what_they_were(tmp_path: Path) -> None:
    configs = aged_of(read(tmp_path)).configurations
    assert list(configs) == [*CLEAN, GROUPS]
    assert configs["custom"].kind is AllocatorKind.CUSTOM
    assert configs["custom"].program == "prog-freelist"
    assert configs["glibc"].kind is AllocatorKind.ALLOCATOR and configs["glibc"].plan is None
    assert configs[GROUPS].groups and configs[GROUPS].plan == "halo.plan"
    assert configs[GROUPS].allocator == "mimalloc"
    assert not configs["halo over mimalloc"].groups


def test_results_without_aged_heaps_have_none(tmp_path: Path) -> None:
    found = read_measurement(save(document(), tmp_path / "r"))
    assert found.results.aged is None
    with pytest.raises(
        BadInput, match="was not measured on aged heaps; halo study heap age does that"
    ):
        aged_of(found)


def test_other_readers_go_on_with_the_clean_heap(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert evaluate(found, RELATIVE, "tcmalloc", "glibc").value == pytest.approx(4 / 3)


def test_every_level_is_relative_to_one_clean_median(tmp_path: Path) -> None:
    values = aged_series(read(tmp_path), RELATIVE, "glibc", "custom").values
    assert [value.value for value in values if value] == pytest.approx(
        [median_seconds("glibc", level) / 2.0 for level in (None, 0.99, 0.9, 0.5, 0.1, 0.01)]
    )
    half = values[3]  # runs of 4.0, 4.4 and 3.6 s: quartiles half-way between neighbours
    assert half is not None
    assert (half.low, half.high) == pytest.approx((1.9, 2.1))


def test_quartiles_stay_in_order_where_more_is_less(tmp_path: Path) -> None:
    value = aged_series(read(tmp_path), parse_metric("time@speedup"), "glibc", "custom").values[3]
    assert value is not None
    assert (value.low, value.value, value.high) == pytest.approx((2 / 4.2, 0.5, 2 / 3.8))


def test_littered_groups_have_no_clean_heap(tmp_path: Path) -> None:
    values = aged_series(read(tmp_path), RELATIVE, GROUPS, "custom").values
    assert values[0] is None
    assert all(value is not None for value in values[1:])


def test_counted_events_are_there_where_every_run_has_them(tmp_path: Path) -> None:
    raw = aged_document(counters={"page-faults": 50, "LLC-load-misses": 7})
    raw["aged"]["levels"][0]["trials"]["glibc"][0]["counters"].pop("LLC-load-misses")
    found = read_measurement(save(raw, tmp_path / "r"))
    assert aged_events(aged_of(found))[-1] == "page-faults"
    value = aged_series(found, parse_metric("page-faults"), "glibc", "custom").values[0]
    assert value is not None and value.value == 50
    with pytest.raises(BadInput, match=r"no LLC-load-misses on aged heaps; .*: time, .*-faults\."):
        aged_series(found, parse_metric("LLC-load-misses"), "glibc", "custom")


def simulated() -> dict[str, Any]:
    """A document whose every run was simulated: 100 misses when clean, 300 on aged heaps."""
    raw = aged_document()
    found = simulation({"clean": 0.1, "aged": 0.3})
    raw["aged"]["machine"] = found["machine"]
    for level in raw["aged"]["levels"]:
        run = found["configurations"]["clean" if level["occupancy"] is None else "aged"]
        level["simulated"] = dict.fromkeys(level["trials"], run)
    return raw


def test_simulated_misses_are_relative_to_the_clean_heap(tmp_path: Path) -> None:
    found = read_measurement(save(simulated(), tmp_path / "r"))
    assert {"L1D-misses", "modelled-cycles", "instructions"} <= set(aged_events(aged_of(found)))
    metric = parse_metric("L1D-misses@relative")
    values = aged_series(found, metric, "glibc", "custom").values
    assert [(v.low, v.value, v.high) for v in values if v] == [(1, 1, 1), *[(3, 3, 3)] * 5]
    assert aged_series(found, metric, GROUPS, "custom").values[0] is None


def test_events_simulated_of_some_runs_only_are_none(tmp_path: Path) -> None:
    raw = simulated()
    raw["aged"]["levels"][0]["simulated"].pop("glibc")
    found = read_measurement(save(raw, tmp_path / "r"))
    with pytest.raises(BadInput, match="no L1D-misses on aged heaps"):
        aged_series(found, parse_metric("L1D-misses"), "jemalloc", "custom")


def test_misses_of_no_machine_are_damaged(tmp_path: Path) -> None:
    raw = simulated()
    del raw["aged"]["machine"]
    with pytest.raises(BadInput, match="simulated machine is missing"):
        read_measurement(save(raw, tmp_path / "r"))


def test_a_name_that_is_also_measured_is_told_apart(tmp_path: Path) -> None:
    found = read(tmp_path, counters={"user": 50, "cycles": 9})
    assert aged_events(aged_of(found))[-2:] == ["cycles", "counted:user"]
    for event, expected in (("counted:user", 50), ("user", 3.0), ("counted:cycles", 9)):
        value = aged_series(found, parse_metric(event), "glibc", "custom").values[0]
        assert value is not None and value.value == expected


def test_a_missing_baseline_has_no_ratio(tmp_path: Path) -> None:
    found = read(tmp_path, counters={"page-faults": 0})
    with pytest.raises(BadInput, match="page-faults was 0 in some run"):
        aged_series(found, parse_metric("page-faults@relative"), "glibc", "custom")
    raw = aged_series(found, parse_metric("page-faults"), "glibc", "custom").values[0]
    assert raw is not None and raw.value == 0


@pytest.mark.parametrize(
    ("label", "baseline", "words"),
    [
        ("hoard", "custom", "has no 'hoard' on aged heaps; it has: custom, glibc"),
        ("glibc", "hoard", "has no 'hoard' on the clean heap to set others against; it has"),
        ("glibc", GROUPS, r"groups aged\)' on the clean heap to set others against; it has"),
    ],
)
def test_labels_that_are_not_there(tmp_path: Path, label: str, baseline: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        aged_series(read(tmp_path), RELATIVE, label, baseline)


def test_baselines(tmp_path: Path) -> None:
    """A plan is never one of itself, however fast: here halo's 1.5 s are the least."""
    found = read(tmp_path)
    assert own_allocator(aged_of(found)) == "custom"
    assert fastest_clean_allocator(found) == "mimalloc"
    none = read(tmp_path, clean={"halo over mimalloc": 1.5})
    assert own_allocator(aged_of(none)) is None
    with pytest.raises(BadInput, match=r"no allocator alone .* --baseline of: halo over mimalloc"):
        fastest_clean_allocator(none)


def level(number: int, *keys: str, value: object) -> Change:
    """Puts a value into a level, in the order of LEVELS."""

    def change(found: dict[str, Any]) -> None:
        place = found["levels"][number]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


def top(value: object, *keys: str) -> Change:
    def change(found: dict[str, Any]) -> None:
        for key in keys[:-1]:
            found = found[key]
        found[keys[-1]] = value

    return change


def no_occupancy(found: dict[str, Any]) -> None:
    del found["levels"][0]["occupancy"]


def no_clean_heap(found: dict[str, Any]) -> None:
    del found["levels"][LEVELS.index(None)]


def one_trial_short(found: dict[str, Any]) -> None:
    found["levels"][0]["trials"]["glibc"].pop()


def one_configuration_short(found: dict[str, Any]) -> None:
    del found["levels"][0]["trials"][GROUPS]


def stranger(found: dict[str, Any]) -> None:
    found["levels"][0]["trials"]["hoard"] = found["levels"][0]["trials"]["glibc"]


SPLIT = {"inside": 0.25, "outside": 0.75, "samples": 9}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (top("1", "multiplier"), "aged.multiplier is not a number"),
        (top(1, "shuffle"), "aged.shuffle is neither true nor false"),
        (top(-1, "seed"), "aged.seed is negative"),
        (top([], "configurations"), "aged.configurations is not an object"),
        (top({}, "configurations"), "aged has no configurations"),
        (
            top("slab", "configurations", "glibc", "kind"),
            "glibc.kind is 'slab', which is none of the known values",
        ),
        (top(None, "configurations", "glibc", "allocator"), "glibc.allocator is not a text"),
        (top(None, "configurations", "glibc", "groups"), "glibc.groups is neither true nor false"),
        (top(7, "configurations", "glibc", "program"), "glibc.program is not a text"),
        (top(7, "configurations", "glibc", "plan"), "glibc.plan is not a text"),
        (top({}, "levels"), "aged.levels is not a list"),
        (top([], "levels"), "aged.levels has no clean heap"),
        (no_clean_heap, "aged.levels has no clean heap"),
        (no_occupancy, "aged.levels[0].occupancy is missing"),
        (level(0, "occupancy", value="half"), "occupancy is not a number"),
        (level(0, "occupancy", value=1.5), "occupancy is more than 1"),
        (level(0, "occupancy", value=-0.5), "occupancy is negative"),
        (level(0, "occupancy", value=0.1), "aged.levels has 0.1 twice"),
        (level(0, "occupancy", value=None), "aged.levels has clean twice"),
        (level(0, "trials", value=[]), "levels[0].trials is not an object"),
        (
            level(0, "trials", "glibc", value=[{"wall": 0}]),
            "trials.glibc[0].wall is not more than 0",
        ),
        (stranger, "at 0.5 has 'hoard', which is none of the configurations"),
        (
            level(0, "split", "hoard", value=SPLIT),
            "has 'hoard', which is none of the configurations",
        ),
        (level(0, "split", value=[]), "levels[0].split is not an object"),
        (level(0, "split", "glibc", value={**SPLIT, "inside": 2}), "inside is more than 1"),
        (level(0, "split", "glibc", value={**SPLIT, "outside": 1.1}), "outside is more than 1"),
        (level(0, "split", "glibc", value={**SPLIT, "inside": 0.5}), "do not add up to 1"),
        (level(0, "split", "glibc", value={**SPLIT, "samples": 0.5}), "is not a whole number"),
    ],
)
def test_what_is_damaged(tmp_path: Path, change: Change, words: str) -> None:
    raw = aged_document()
    change(raw["aged"])
    folder = save(raw, tmp_path / "r")
    with pytest.raises(BadInput) as caught:
        read_measurement(folder)
    assert words in str(caught.value)
    assert f"{folder}/results.json is damaged: " in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (one_trial_short, r"has 2 trials of glibc \(0\.5\) and 3 of .* on the aged heaps"),
        (one_configuration_short, r"has no trials of halo .* \(groups aged\) \(0\.5\)"),
        (level(1, "trials", value={}), r"has no trials of custom \(clean\)"),
        (level(0, "trials", "glibc", value=[]), r"has no trials of glibc \(0\.5\)"),
    ],
)
def test_what_was_not_finished(tmp_path: Path, change: Change, words: str) -> None:
    raw = {**document(), "aged": aged()}
    change(raw["aged"])
    with pytest.raises(BadInput, match=f"{words}.*: the measurement was not finished; repeat it"):
        read_measurement(save(raw, tmp_path / "r"))


def test_splits_may_be_missing(tmp_path: Path) -> None:
    raw = aged_document()
    del raw["aged"]["levels"][0]["split"]
    del raw["aged"]["levels"][1]["split"]["glibc"]
    levels = aged_of(read_measurement(save(raw, tmp_path / "r"))).levels
    assert levels[3].split == {}
    assert "glibc" not in levels[0].split and "custom" in levels[0].split
