"""The race as a table, and the lines below the answer."""

from __future__ import annotations

import pytest

from halo.console.terminal import make_console, show_grid
from halo.trials.findings import gains
from halo.trials.racing.standings import standings
from halo.trials.results import summarize_findings
from halo.trials.table import gains_line
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
    dropped = measured({"late": []}, "none over glibc")
    dropped.race = {alone: samples([3.0] * 2), "late over glibc": samples([2.7] * 2)}
    dropped.checked = {alone: samples([1.0] * 5), "late over glibc": samples([0.9] * 5)}
    for found, trials, seconds in ((findings, 5, 2.7), (dropped, 7, 0.9)):
        (one,) = (it for it in summarize_findings(found).candidates if it.strategy != "none")
        assert one.change is not None and one.seconds is not None and one.alone is not None
        assert (one.trials, one.seconds) == (trials, seconds)
        assert one.change.percent == pytest.approx(100 * (one.seconds / one.alone - 1))


def test_candidates_that_did_not_run_are_left_out() -> None:
    findings = measured({"halo": times(0.8), "late": []}, "halo over glibc")
    labels = [row.cells[0] for row in standings(summarize_findings(findings).candidates).rows]
    assert labels == ["halo over glibc (kept)", "none over glibc"]


def test_the_gains_name_glibc_and_the_fastest_allocator() -> None:
    findings = complete(1.0)
    assert {name: round(gain.value, 2) for name, gain in gains(findings).items()} == {
        "glibc": 3.0,
        "jemalloc": 2.0,
    }
    assert gains_line(findings).startswith("the plan 'halo': 3.00x over glibc, 2.00x over jemalloc")


def test_without_a_plan_the_line_has_the_gain_of_the_allocator() -> None:
    findings = complete(2.0, kept="none over jemalloc")
    assert gains_line(findings).startswith("jemalloc: 1.50x over glibc (")
    assert "jemalloc," not in gains_line(findings)


def test_glibc_is_not_compared_with_itself() -> None:
    assert gains_line(measured({"halo": times(1.0)}, "none over glibc")) == ""


def test_the_table_fits_a_narrow_terminal() -> None:
    findings = measured({"everything-by-size-small-pages": times(0.8)})
    console = make_console()
    console.width = 60
    with console.capture() as captured:
        show_grid(console, standings(summarize_findings(findings).candidates))
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= 60
    assert any("-20.0 %" in line for line in lines)
