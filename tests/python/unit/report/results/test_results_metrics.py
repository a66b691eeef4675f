"""Metrics: the syntax, the arithmetic against hand-made values, and what was not measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import BadInput, UsageError
from halo.report.results import Measurement, read_measurement
from halo.report.results.metrics import (
    TRAINING,
    Metric,
    Value,
    evaluate,
    events,
    fastest_allocator,
    parse_metric,
)
from halo.report.results.pools import typical_pools, waste_of
from support.samples.results import document, save, simulation


def read(tmp_path: Path, raw: dict[str, Any]) -> Measurement:
    return read_measurement(save(raw, tmp_path / "r"))


def about(value: float, low: float, high: float) -> Value:
    """Equal to a value that is nearly this one."""
    near: Any = pytest.approx
    return Value(near(value), near(low), near(high))


@pytest.mark.parametrize(
    ("text", "metric"),
    [("time", Metric("time")), ("L1D-misses@speedup", Metric("L1D-misses", "speedup"))],
)
def test_metrics_are_written_as_in_the_paper(text: str, metric: Metric) -> None:
    assert parse_metric(text) == metric
    assert str(metric) == text


@pytest.mark.parametrize("text", ["", "@speedup", "time@", "time@faster", "time@speedup@x"])
def test_what_is_not_a_metric(text: str) -> None:
    with pytest.raises(UsageError, match="is not a metric"):
        parse_metric(text)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        # jemalloc took 2.0, 2.2 and 1.8 s, halo 1 s in each round.
        ("time", about(1, 1, 1)),
        ("time@speedup", about(2.0, 1.9, 2.1)),
        ("time@relative", about(1 / 2, (1 / 2 + 1 / 2.2) / 2, (1 / 2 + 1 / 1.8) / 2)),
        (
            "time@negimprovement",
            about(50, 100 - 50 * (1 / 2 + 1 / 1.8), 100 - 50 * (0.5 + 1 / 2.2)),
        ),
        ("time@improvement", about(-50, 50 * (0.5 + 1 / 2.2) - 100, 50 * (1 / 2 + 1 / 1.8) - 100)),
        ("peak-memory@relative", about(0.5, (1 / 2 + 1 / 2.2) / 2, (1 / 2 + 1 / 1.8) / 2)),
    ],
)
def test_transforms_are_of_pairs_of_rounds(tmp_path: Path, metric: str, value: Value) -> None:
    found = read(tmp_path, document())
    assert evaluate(found, parse_metric(metric), "halo", "jemalloc") == value


def test_a_slow_spell_of_the_machine_does_not_widen_the_quartiles(tmp_path: Path) -> None:
    found = read(tmp_path, document())
    value = evaluate(found, parse_metric("time@relative"), "glibc", "jemalloc")
    assert value == about(1.5, 1.5, 1.5)


def test_the_best_and_the_worst_run_can_be_left_out(tmp_path: Path) -> None:
    """Of five runs, whose medians are 2 s and 1 s."""
    times = {"glibc": (2.0, 9.0, 1.0, 2.0, 5.0), "halo": (1.0, 1.0, 0.1, 3.0, 2.0)}
    found = read(tmp_path, document(times=times))
    metric = parse_metric("time@speedup")
    assert evaluate(found, metric, "halo", "glibc").value == pytest.approx(2.0)
    trimmed = evaluate(found, metric, "halo", "glibc", trimmed=True)
    assert trimmed.value == pytest.approx(9 / 4)
    assert trimmed.low <= trimmed.value <= trimmed.high
    raw = evaluate(found, parse_metric("time"), "halo", "", trimmed=True)
    assert raw == about(4 / 3, 1.0, 2.0)
    one = read(tmp_path, document(times={"glibc": (1.0, 2.0), "halo": (1.0, 2.0)}))
    with pytest.raises(BadInput, match=r"2 of the 3 values of time .* leave out --trimmed"):
        evaluate(one, metric, "halo", "glibc", trimmed=True)


def test_simulated_events_have_one_value(tmp_path: Path) -> None:
    found = read(tmp_path, document(simulation=simulation({"glibc": 1.0, "halo": 0.25})))
    metric = parse_metric("DTLB-misses@negimprovement")
    assert evaluate(found, metric, "halo", "glibc") == about(75, 75, 75)
    # 10,000 instructions at four a cycle; each of 250 misses went to memory, and took a walk.
    cycles = 2500 + 250 * (200 + 8)
    assert evaluate(found, parse_metric("modelled-cycles"), "halo", "") == about(
        cycles, cycles, cycles
    )


def test_counters_of_the_processor_are_events(tmp_path: Path) -> None:
    raw = document(simulation=simulation({"glibc": 1.0, "halo": 0.5}))
    for label, trials in raw["trials"]["reference"].items():
        for trial in trials:
            count = 50 if label == "halo" else 100
            trial["counters"] = {"cache-misses": count, "instructions": 7 * count}
    found = read(tmp_path, raw)
    value = evaluate(found, parse_metric("cache-misses@relative"), "halo", "glibc")
    assert value == about(0.5, 0.5, 0.5)
    # The simulator's instructions and the processor's are different events.
    assert evaluate(found, parse_metric("instructions"), "halo", "").value == 10_000
    assert evaluate(found, parse_metric("counted:instructions"), "halo", "").value == 350


def test_what_was_not_measured_is_said_with_what_was(tmp_path: Path) -> None:
    found = read(tmp_path, document())
    with pytest.raises(
        BadInput, match=r"no L1D-misses; measured were: time, .*halo study eval compare"
    ):
        evaluate(found, parse_metric("L1D-misses"), "halo", "glibc")
    with pytest.raises(BadInput, match=r"no time of 'unknown'; it has those of: glibc, "):
        evaluate(found, parse_metric("time"), "unknown", "glibc")
    with pytest.raises(BadInput, match=r"no configurations timed on the training input"):
        evaluate(found, parse_metric("time"), "halo", "glibc", TRAINING)


def test_a_counter_that_some_trials_lack_is_not_an_event(tmp_path: Path) -> None:
    raw = document()
    raw["trials"]["reference"]["halo"][0]["counters"] = {"cache-misses": 5}
    assert "cache-misses" not in events(read(tmp_path, raw), "reference")


def test_a_baseline_of_zero_has_no_ratio(tmp_path: Path) -> None:
    found = read(tmp_path, document(simulation=simulation({"glibc": 0.0, "halo": 0.5})))
    with pytest.raises(BadInput, match="was 0 in some run"):
        evaluate(found, parse_metric("L3-misses@relative"), "halo", "glibc")


def test_the_fastest_allocator_is_never_halo(tmp_path: Path) -> None:
    assert fastest_allocator(read(tmp_path, document())) == "jemalloc"


def test_waste_is_of_the_trial_with_the_median_of_it(tmp_path: Path) -> None:
    raw = document()
    sizes = raw["trials"]["reference"]["halo"][2]["runtime"]["groups"][0]
    sizes["peak_resident_bytes"] = 10**9
    waste = waste_of(typical_pools(read(tmp_path, raw).reference["halo"]))
    assert (waste.resident, waste.bytes) == (4000, 500)
    assert waste.share == 0.125
    assert typical_pools(read(tmp_path, raw).reference["glibc"]) == ()
