"""Sharing: the worst lines come first, and true and false sharing agree with a slow reference."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from halo.studies.tracing.analyses import Answer, Request, find_analysis, open_folder, run_analysis
from support.samples.trace import LINE, SampleTrace, counters


def sharing(trace: SampleTrace, tmp_path: Path) -> Answer:
    folder = open_folder(trace.write(tmp_path / "columns"))
    return run_analysis(find_analysis("sharing"), folder, Request(tmp_path))


def test_a_shared_counter_comes_first_plain_or_atomic(tmp_path: Path) -> None:
    for atomic in (False, True):
        answer = sharing(counters(atomic), tmp_path / str(atomic))
        first, second = answer.report.dicts()
        assert (first["variable"], first["line"]) == ("stats.hits", 32)
        assert (first["sharing"], first["threads"], first["uniform"]) == ("true", 4, "yes")
        assert (first["line_offset"], first["bytes"], first["cache_line"]) == (8, 8, LINE)
        assert first["accesses"] == (400 if atomic else 800) and first["writes"] == 400
        assert (second["variable"], second["sharing"]) == ("stats.limit", "false")
        (sentence,) = answer.findings
        assert "Count separately in each thread" in sentence and "moves stats.limit" in sentence
        threads = answer.details["threads"].dicts()
        assert [row["thread"] for row in threads if row["place"] == 1] == [0, 1, 2, 3]


def test_counters_of_threads_in_one_line_are_false_sharing(tmp_path: Path) -> None:
    trace = SampleTrace()
    own = trace.site("update", "counts[]", 5)
    for at in range(400):
        trace.access(own, LINE + 8 * (at % 4), at % 4)
    (row,) = (answer := sharing(trace, tmp_path)).report.dicts()
    assert (row["variable"], row["sharing"], row["threads"]) == ("counts[]", "false", 4)
    assert row["transfers"] == 400 and row["line_offset"] == 0 and row["bytes"] == 32
    assert "alignas(64)" in answer.findings[0]


def test_counters_that_are_added_up_once_are_false_sharing_all_the_same(tmp_path: Path) -> None:
    trace = SampleTrace()
    own, total = trace.site("update", "counts[]", 5), trace.site("load", "counts[]", 9)
    for at in range(400):
        trace.access(own, LINE + 8 * (at % 4), 1 + at % 4)
    for at in range(4):
        trace.access(total, LINE + 8 * at)
    first, second = sharing(trace, tmp_path).report.dicts()
    assert (first["line"], first["sharing"]) == (5, "false")
    assert (second["line"], second["accesses"]) == (9, 4)


def test_two_shared_counters_side_by_side_are_both_truly_shared(tmp_path: Path) -> None:
    trace = SampleTrace()
    often, rarely = trace.site("update", "hits", 5), trace.site("update", "misses", 6)
    for at in range(400):
        trace.access(often, LINE, at % 2)
        if at % 4 < 2:
            trace.access(rarely, LINE + 8, at % 2)
    trace.access(rarely, LINE + 8, 0)
    rows = sharing(trace, tmp_path).report.dicts()
    assert [(row["variable"], row["sharing"]) for row in rows] == [
        ("hits", "true"),
        ("misses", "true"),
    ]


def test_what_does_not_hurt_is_left_out(tmp_path: Path) -> None:
    trace = SampleTrace()
    read, write = trace.site("load", "table[]", 1), trace.site("store", "own", 2)
    for thread in range(4):
        trace.access(read, LINE, thread)
        trace.access(write, LINE + 64 * (thread + 1), thread)
    answer = sharing(trace, tmp_path)
    assert answer.report.rows == () and not answer.findings


def test_written_once_and_read_often_ranks_below_written_often(tmp_path: Path) -> None:
    trace = SampleTrace()
    set_up, read = trace.site("store", "config", 1), trace.site("load", "config", 2)
    count = trace.site("update", "count", 3)
    trace.access(set_up, LINE)
    for at in range(300):
        trace.access(read, LINE, at % 3)
    for at in range(20):
        trace.access(count, LINE + 64, at % 2)
    rows = sharing(trace, tmp_path).report.dicts()
    assert [(row["variable"], row["line"]) for row in rows if row["place"] == 1] == [
        ("count", 3),
        ("config", 1),
    ]
    assert next(row["transfers"] for row in rows if row["variable"] == "config") == 3


def test_lines_of_one_variable_make_one_row(tmp_path: Path) -> None:
    trace = SampleTrace()
    node = trace.site("update", "node.references", 7)
    for at in range(10):
        for thread in range(2):
            trace.access(node, LINE + 64 * at, thread)
    (row,) = sharing(trace, tmp_path).report.dicts()
    assert (row["lines"], row["transfers"], row["cache_line"]) == (10, 20, LINE)


def test_figures_are_those_of_a_slow_reference(tmp_path: Path) -> None:
    drawn = random.Random(4)
    trace = SampleTrace()
    sites = [trace.site(drawn.choice(["load", "store"]), f"v{at}", at) for at in range(12)]
    for _ in range(3000):
        at = drawn.randrange(12)
        trace.access(sites[at], LINE + 16 * at + drawn.choice([0, 8]), drawn.randrange(1, 4))
    kinds = {row["site"]: row["kind"] for row in trace.rows["sites"]}
    touched: dict[int, Counter[int]] = {}
    writes: Counter[int] = Counter()
    for access in trace.rows["accesses"]:
        line = access["address"] // 64 * 64
        touched.setdefault(line, Counter())[access["thread"]] += 1
        writes[line] += kinds[access["site"]] == "store"
    rows = {int(row["cache_line"]): row for row in sharing(trace, tmp_path).report.dicts()}
    assert set(rows) == {line for line in touched if writes[line] and len(touched[line]) > 1}
    for line, row in rows.items():
        total, maximum = touched[line].total(), max(touched[line].values())
        bound = min(total, 2 * (total - maximum), writes[line] * len(touched[line]))
        assert (row["line_accesses"], row["line_writes"]) == (total, writes[line])
        assert (row["line_threads"], row["transfers"]) == (len(touched[line]), bound)


def test_what_is_written_before_the_others_read_it_is_not_shared(tmp_path: Path) -> None:
    """Only an allocation or a free shows that the threads began later."""
    for ordered in (False, True):
        trace = SampleTrace()
        set_up, read = trace.site("store", "record.key", 1), trace.site("load", "record.key", 2)
        for at in range(8):
            trace.access(set_up, LINE + 8 * at)
        if ordered:
            trace.free(1)
        for at in range(300):
            trace.access(read, LINE + 8 * (at % 8), at % 3)
        rows = sharing(trace, tmp_path / str(ordered)).report.dicts()
        assert [row["variable"] for row in rows if row["place"] == 1] == (
            [] if ordered else ["record.key"]
        )


def test_memory_that_another_thread_gets_later_is_not_shared(tmp_path: Path) -> None:
    trace = SampleTrace()
    node = trace.site("store", "node.next", 3)
    for owner in range(4):
        for _ in range(50):
            trace.access(node, LINE, owner, object=owner + 1)
        trace.free(owner + 1, owner)
    assert sharing(trace, tmp_path).report.rows == ()


def test_objects_of_two_threads_that_live_on_one_line_are_false_sharing(tmp_path: Path) -> None:
    trace = SampleTrace()
    node = trace.site("store", "node.next", 3)
    for at in range(100):
        trace.access(node, LINE + 32 * (at % 2), at % 2, object=at % 2 + 1)
        if at == 50:
            trace.free(7)
    (row,) = sharing(trace, tmp_path).report.dicts()
    assert (row["sharing"], row["transfers"], row["line_writers"]) == ("false", 100, 2)


def test_what_one_thread_writes_while_others_read_is_told_as_that(tmp_path: Path) -> None:
    trace = SampleTrace()
    write, read = trace.site("store", "progress", 3), trace.site("load", "progress", 4)
    for at in range(100):
        trace.access(write, LINE)
        trace.access(read, LINE, 1 + at % 2)
    answer = sharing(trace, tmp_path)
    first, second = answer.report.dicts()
    assert (first["line_writers"], first["writers"], second["writers"]) == (1, 1, 0)
    assert "one thread writes it, and others read it meanwhile" in answer.findings[0]


def test_a_few_transfers_in_a_long_run_are_not_a_reason_to_change_anything(tmp_path: Path) -> None:
    folder = open_folder(counters(atomic=True).write(tmp_path / "columns", events=10**7))
    (sentence,) = run_analysis(find_analysis("sharing"), folder, Request(tmp_path)).findings
    assert sentence.startswith("Lines moved between threads at most 440 times in 10,000,000")


def test_overlapping_threads_are_those_of_a_slow_reference(tmp_path: Path) -> None:
    """Short spans of accesses, some with a free between them."""
    drawn = random.Random(9)
    trace = SampleTrace()
    sites = [
        {kind: trace.site(kind, f"v{line}", line) for kind in ("store", "load")}
        for line in range(430)
    ]
    for at in range(2500):
        line = at // 6 + drawn.randrange(2)
        if drawn.random() < 0.15:
            trace.free(1)
        site = sites[line][drawn.choice(["store", "load"])]
        trace.access(site, LINE + 64 * line, drawn.randrange(3))
    columns = open_folder(trace.write(tmp_path / "columns"))
    request = Request(tmp_path, parameters={"limit": 1000})
    report = run_analysis(find_analysis("sharing"), columns, request).report
    found = {row["cache_line"]: row["line_threads"] for row in report.dicts()}
    expected = overlapping(trace, {of_line["store"] for of_line in sites})
    assert found == {line: len(threads) for line, threads in expected.items() if threads}
    assert len(found) < len(expected) and set(found.values()) == {2, 3}


def overlapping(trace: SampleTrace, stores: set[int]) -> dict[int, set[int]]:
    """The threads whose use of each line overlaps, pair by pair."""
    accesses: dict[int, dict[int, list[tuple[int, bool]]]] = {}
    for row in trace.rows["accesses"]:
        of_line = accesses.setdefault(row["address"], {})
        of_line.setdefault(row["thread"], []).append((row["seq"], row["site"] in stores))
    frees = [row["seq"] for row in trace.rows["frees"]]

    def may_meet(written: list[int], touched: list[int]) -> bool:
        if not written:
            return False
        early, late = sorted([(written[0], written[-1]), (touched[0], touched[-1])])
        return early[1] >= late[0] or not any(early[1] < seq < late[0] for seq in frees)

    found: dict[int, set[int]] = {}
    for line, threads in accesses.items():
        found[line] = set()
        for writer, events in threads.items():
            written = [seq for seq, writes in events if writes]
            for other, theirs in threads.items():
                if writer != other and may_meet(written, [seq for seq, _ in theirs]):
                    found[line] |= {writer, other}
    return found
