"""Offenders: counted as a slow reference counts them, and told so that an engineer can act."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from halo.base.errors import UsageError
from halo.studies.tracing.analyses import (
    Answer,
    Filters,
    Request,
    find_analysis,
    open_folder,
    run_analysis,
)
from halo.studies.tracing.analyses.advice_offenders import Use
from support.samples.trace import SampleTrace, counters, scan_of_wide_structures


def offenders(trace: SampleTrace, tmp_path: Path, **parameters: str | int) -> Answer:
    tmp_path.mkdir(exist_ok=True)
    folder = open_folder(trace.write(tmp_path / "columns"))
    request = Request(tmp_path, parameters=parameters)
    return run_analysis(find_analysis("offenders"), folder, request)


def test_the_scanned_field_and_its_line_come_first(tmp_path: Path) -> None:
    answer = offenders(scan_of_wide_structures(), tmp_path)
    first = answer.report.dicts()[0]
    assert (first["variable"], first["file"], first["line"]) == ("record.key", "src/sample.c", 10)
    assert (first["accesses"], first["last_missed"]) == (64, 64)
    assert (first["cycles"], first["permille"]) == (64 * 200, 797)
    assert first["tlb_missed"] == 2


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (("/src/a/one.c", "/usr/include/two.h"), ("/src/a/one.c", "/usr/include/two.h")),
        (("/src/a/one.c", "/src/b/two.h"), ("a/one.c", "b/two.h")),
        (("/src/a/one.c", "relative/two.h"), ("one.c", "relative/two.h")),
        (("/one.c", "/src/two.c"), ("/one.c", "/src/two.c")),
        (("/one.c", "two.c"), ("/one.c", "two.c")),
    ],
)
@pytest.mark.parametrize("name", ["offenders", "sharing"])
def test_a_path_of_a_table_leads_to_its_file(
    tmp_path: Path, name: str, files: tuple[str, str], shown: tuple[str, str]
) -> None:
    """From the folder that all paths have in common, or from the root."""
    trace = scan_of_wide_structures() if name == "offenders" else counters(atomic=False)
    for number, site in enumerate(trace.rows["sites"]):
        site["file"] = files[number % 2]
    folder = open_folder(trace.write(tmp_path / "columns"))
    analysis = find_analysis(name)
    table = analysis.rendered(run_analysis(analysis, folder, Request(tmp_path)).report)
    where = table.columns.index("where")
    places = {str(row[where]).rpartition(":")[0] for row in table.rows}
    assert places <= set(shown) and shown[0] in places


def test_counts_are_those_of_a_slow_reference(tmp_path: Path) -> None:
    trace = scan_of_wide_structures(100)
    sites = {row["site"]: row for row in trace.rows["sites"]}
    counts: dict[tuple[str, str, int], Counter[str]] = {}
    for access in trace.rows["accesses"]:
        site = sites[access["site"]]
        key = (site["variable"], site["file"], site["line"])
        of_key = counts.setdefault(key, Counter())
        of_key["accesses"] += 1
        of_key["first_missed"] += access["missed"] >= 1
        of_key["last_missed"] += access["missed"] >= 2
        of_key["tlb_missed"] += access["tlb_missed"] >= 1
        of_key["cycles"] += (0, 12, 200)[access["missed"]]
    rows = offenders(trace, tmp_path).report.dicts()
    assert len(rows) == len(counts)
    for row in rows:
        expected = counts[(row["variable"], row["file"], row["line"])]  # type: ignore[index]
        for name in ("accesses", "first_missed", "last_missed", "tlb_missed", "cycles"):
            assert row[name] == expected[name]
    measures = ("cycles", "last_missed", "first_missed", "accesses")
    ranks = [tuple(int(row[name]) for name in measures) for row in rows]
    assert ranks == sorted(ranks, reverse=True)


def test_many_cheap_misses_outrank_a_few_from_memory(tmp_path: Path) -> None:
    """A loop that always misses the first levels costs more than the first touch of its array."""
    trace = SampleTrace()
    first_touch, loop = trace.site("store", "new", 1), trace.site("load", "old", 2)
    for at in range(40):
        trace.access(first_touch, 0x10000 + 64 * at, missed=3)
    for at in range(400):
        trace.access(loop, 0x10000 + 64 * (at % 40), missed=1 + at % 2)
    folder = open_folder(trace.write(tmp_path / "columns", levels=3))
    answer = run_analysis(find_analysis("offenders"), folder, Request(tmp_path))
    rows = [(row["variable"], row["cycles"], row["last_missed"]) for row in answer.report.dicts()]
    assert rows == [("old", 200 * (12 + 45), 0), ("new", 40 * 200, 40)]
    assert "(400 miss the first level, 0 the last)" in answer.findings[0]


def test_a_wide_structure_is_to_be_split_and_a_full_one_is_not(tmp_path: Path) -> None:
    first, second = offenders(scan_of_wide_structures(), tmp_path).findings
    assert "record.key at src/sample.c:10 (in scan) takes 79.7 % of the modelled" in first
    assert "uses 8: record has 128 bytes, and scan uses 8 of them (key)" in first
    assert "Keep key in an array of its own" in first
    assert "pair.left" in second and "splitting it would not help" in second


def test_rows_can_be_lines_or_functions(tmp_path: Path) -> None:
    trace = scan_of_wide_structures()
    lines = offenders(trace, tmp_path, by="line").report.dicts()
    assert [row["line"] for row in lines] == [10, 20, 11]
    assert lines[1]["accesses"] == 128
    functions = offenders(trace, tmp_path, by="function").report.dicts()
    assert [row["function"] for row in functions] == ["scan", "sum"]
    with pytest.raises(UsageError):
        offenders(trace, tmp_path, by="colour")


def test_shares_are_of_all_misses_whatever_the_filter(tmp_path: Path) -> None:
    folder = open_folder(scan_of_wide_structures().write(tmp_path / "columns"))
    request = Request(tmp_path, filters=Filters({"function": ["s*", "!scan"]}))
    rows = run_analysis(find_analysis("offenders"), folder, request).report.dicts()
    assert [(row["variable"], row["permille"]) for row in rows] == [
        ("pair.left", 199),
        ("pair.right", 2),
    ]


def test_without_a_simulated_machine_it_ranks_by_accesses(tmp_path: Path) -> None:
    trace = SampleTrace()
    rare, often = trace.site("load", "rare", 1), trace.site("load", "often", 2)
    trace.access(rare, 0x1000)
    trace.access(often, 0x1000)
    trace.access(often, 0x1008)
    folder = open_folder(trace.write(tmp_path / "columns", levels=0, machine="{}"))
    answer = run_analysis(find_analysis("offenders"), folder, Request(tmp_path))
    assert [row["variable"] for row in answer.report.dicts()] == ["often", "rare"]
    assert not answer.findings


def test_misses_that_are_rare_are_not_a_reason_to_change_anything(tmp_path: Path) -> None:
    """Four of 500, and four of 4500: the caches do what they are for."""
    trace = SampleTrace()
    trace.structure("record", 128, ("key", 0, 8))
    key = trace.site("load", "record.key", 10)
    for at in range(500):
        trace.access(key, 0x10000, missed=2 * (at < 4))
    assert not offenders(trace, tmp_path / "rare").findings
    other = trace.site("load", "other", 11)
    for _ in range(4000):
        trace.access(other, 0x20000)
    (sentence,) = offenders(trace, tmp_path / "rarer").findings
    assert sentence.startswith("Only 4 of 4,500 accesses miss the first level and 4 the last")


def test_folders_that_are_named_like_columns_change_nothing(tmp_path: Path) -> None:
    plain = offenders(scan_of_wide_structures(), tmp_path / "plain")
    named = offenders(scan_of_wide_structures(), tmp_path / "site=1")
    assert named.report == plain.report


def test_a_field_in_each_line_of_a_wide_structure_wastes_most_of_each_line() -> None:
    assert Use(512, ("key",), bytes=64, lines=8).of_each_line == 8
    assert Use(512, ("key",), bytes=64, lines=1).of_each_line == 64
    assert Use(32, ("key",), bytes=8, lines=1).of_each_line == 16
