"""The race as a table, and the lines below the answer."""

from __future__ import annotations

from halo.console.terminal import make_console, show_grid
from halo.trials.findings import gains
from halo.trials.racing.standings import standings
from halo.trials.results import summarize_findings
from halo.trials.table import gains_line
from support.samples.findings import complete, measured, times


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
    assert str(rows[0].cells[2]).startswith("-20.0 % (")
    assert rows[2].cells[2] == ""
    assert [row.last for row in rows] == [False, False, True, True]
    assert rows[3].cells[3] == "3"


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
