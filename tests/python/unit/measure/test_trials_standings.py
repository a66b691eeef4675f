"""The race as a table, and the lines below the answer."""

from __future__ import annotations

import pytest

from halo.base.console.terminal import make_console, show_grid
from halo.measure.findings import gains
from halo.measure.racing.standings import standings
from halo.measure.results import summarize_findings
from support.samples.findings import complete, measured, samples, times


def test_the_kept_plan_is_first_and_dropped_plans_are_last() -> None:
    findings = measured(
        {"halo": times(0.8), "dense": times(0.9), "hot": times(1.2)[:3]}, "halo over glibc"
    )
    for label in ("none over glibc", "halo over glibc", "dense over glibc"):
        findings.final[label] = findings.race[label]
    rows = standings(summarize_findings(findings).candidates).rows
    assert [row.cells[0] for row in rows] == [
        "halo over glibc (kept)",
        "dense over glibc",
        "none over glibc",
        "hot over glibc",
    ]
    assert str(rows[0].cells[3]).startswith("-20.0 % (")
    assert rows[0].cells[1:3] == ["0.800", "1.000"]
    assert rows[2].cells[2:4] == ["", ""]
    assert [row.last for row in rows] == [False, False, True, True]
    assert rows[3].cells[4] == "3"


def test_the_seconds_of_a_plan_are_of_the_rounds_of_its_change() -> None:
    """A plan that leaves the race while the machine is slow would look slower than it is."""
    findings = measured({"left": []}, "none over glibc")
    alone, plan = "none over glibc", "left over glibc"
    findings.final = {alone: samples([3.0] * 5 + [1.0] * 25), plan: samples([2.7] * 5)}
    (one,) = (it for it in summarize_findings(findings).candidates if it.strategy != "none")
    assert one.change is not None and one.seconds is not None and one.alone is not None
    assert (one.trials, one.seconds) == (5, 2.7)
    assert one.change.percent == pytest.approx(100 * (one.seconds / one.alone - 1))


def test_candidates_that_did_not_run_are_left_out() -> None:
    findings = measured({"halo": times(0.8), "late": []}, "halo over glibc")
    labels = [row.cells[0] for row in standings(summarize_findings(findings).candidates).rows]
    assert labels == ["halo over glibc (kept)", "none over glibc"]


def test_the_gains_are_over_glibc_and_the_fastest_allocator() -> None:
    assert {name: round(gain.value, 2) for name, gain in gains(complete(1.0)).items()} == {
        "glibc": 3.0,
        "jemalloc": 2.0,
    }


def test_the_table_fits_a_narrow_terminal() -> None:
    findings = measured({"everything-by-size-small-pages": times(0.8)})
    console = make_console()
    console.width = 60
    with console.capture() as captured:
        show_grid(console, standings(summarize_findings(findings).candidates))
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= 60
    assert any("-20.0 %" in line for line in lines)
