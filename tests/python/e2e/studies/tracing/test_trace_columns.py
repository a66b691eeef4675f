"""`halo study trace convert`: every value of a small trace, and what real programs leave."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.command import BUILD, halo
from support.traces import (
    ALLOC,
    ALLOC_FROM,
    ALLOCATION,
    COUNT,
    ENTER,
    EPOCH,
    EXIT,
    FREE,
    LOAD,
    LOST,
    REVIVE,
    STORE,
    THREAD_END,
    WRITE_RANGE,
    instrumented,
    rows,
    trace_of,
    write_trace,
)

ONE_NODE = f"""
0 {ENTER} 140737488350000 4660
0 {EPOCH} 4 0
0 {ALLOC} 65536 32
0 {ALLOC_FROM} 140737488349000 4500
0 {ALLOCATION} 65536 16
0 {COUNT} 2 0
0 {LOAD} 65536 7
0 {STORE} 65560 18446744073709551615
0 {WRITE_RANGE} 65536 32
1 {EPOCH} 5 0
1 {LOAD} 65544 9
1 {EPOCH} 8 0
1 {FREE} 65536 0
1 {LOAD} 65544 10
0 {EXIT} 140737488350000 0
round 20
"""


def convert(folder: Path, *arguments: str) -> Path:
    output = folder / "columns"
    outcome = halo("columns", *arguments, "-o", str(output))
    assert outcome.status == 0
    simulated = "--no-simulation" not in arguments
    assert outcome.stderr.count("\n") == (1 if simulated else 2)
    assert f"{output}: {len(rows(output, 'accesses'))} accesses" in outcome.stderr
    assert ("Misses were not simulated" in outcome.stderr) != simulated
    return output


def test_every_value_of_a_small_trace(tmp_path: Path) -> None:
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", ONE_NODE)), "--no-simulation")
    accesses = [tuple(row.values()) for row in rows(columns, "accesses")]
    assert accesses == [
        # seq, thread, site, address, bytes, value, missed, tlb_missed, object, object_offset
        (3, 0, LOAD, 65536, 8, 7, 0, 0, 1, 0),
        (4, 0, STORE, 65560, 4, 0xFFFFFFFF, 0, 0, 1, 24),
        (5, 0, WRITE_RANGE, 65536, 32, 0, 0, 0, 1, 0),
        (7, 1, LOAD, 65544, 8, 9, 0, 0, 1, 8),
        (9, 1, LOAD, 65544, 8, 10, 0, 0, 0, 0),
    ]
    calls = [tuple(row.values()) for row in rows(columns, "calls")]
    assert calls == [(1, 0, ENTER, True), (6, 0, EXIT, False)]
    allocations = [tuple(row.values()) for row in rows(columns, "allocations")]
    assert allocations == [(2, 0, 1, 65536, 32, ALLOCATION, 2, 16)]
    assert [tuple(row.values()) for row in rows(columns, "frees")] == [(8, 1, 1)]


def test_sites_and_fields_say_what_the_module_says(tmp_path: Path) -> None:
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", ONE_NODE)))
    sites = rows(columns, "sites")
    assert [site["site"] for site in sites] == list(range(16, 22))
    store = sites[STORE - 16]
    assert (store["kind"], store["owner"], store["field"]) == ("store", "node", "value")
    assert (store["field_offset"], store["bytes"], store["line"]) == (8, 4, 11)
    fields = [(row["owner"], row["field"], row["offset"]) for row in rows(columns, "fields")]
    assert fields == [("node", "next", 0), ("node", "value", 8)]
    (trace,) = rows(columns, "trace")
    assert (trace["program"], trace["arguments"], trace["build_id"]) == ("/x/prog", '["a"]', "ab12")
    assert (trace["events"], trace["ending"], trace["levels"]) == (9, "complete", 3)


def test_what_is_touched_first_misses_and_then_hits(tmp_path: Path) -> None:
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", ONE_NODE)))
    missed = [row["missed"] for row in rows(columns, "accesses")]
    assert missed[0] > 0
    assert missed[1:] == [0, 0, 0, 0]


def test_events_follow_their_epochs_whichever_thread_was_written_first(tmp_path: Path) -> None:
    events = f"""
1 {EPOCH} 5 0
1 {LOAD} 65536 9
0 {EPOCH} 4 0
0 {ALLOC} 65536 32
0 {ALLOC_FROM} 140737488349000 4500
round 20
"""
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", events)))
    assert [(row["seq"], row["object"]) for row in rows(columns, "accesses")] == [(2, 1)]


def test_a_failed_realloc_frees_nothing(tmp_path: Path) -> None:
    events = f"""
0 {ALLOC} 65536 32
0 {ALLOC_FROM} 140737488349000 4500
0 {FREE} 65536 0
0 {REVIVE} 65536 0
0 {LOAD} 65536 1
"""
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", events)))
    assert rows(columns, "frees") == []
    assert rows(columns, "accesses")[0]["object"] == 1


def test_a_threads_number_that_is_used_again_is_another_thread(tmp_path: Path) -> None:
    events = f"0 {LOAD} 4096 1\n0 {THREAD_END} 0 0\n0 {LOAD} 4096 1"
    columns = convert(tmp_path, str(write_trace(tmp_path / "t", events)))
    assert [row["thread"] for row in rows(columns, "accesses")] == [0, 1]


def test_a_trace_that_is_cut_short_goes_as_far_as_it_goes(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", ONE_NODE, end="")
    outcome = halo("columns", str(trace), "-o", str(tmp_path / "columns"))
    assert outcome.status == 0
    assert "is cut short and was converted up to there" in outcome.stderr
    assert len(rows(tmp_path / "columns", "accesses")) == 5
    assert rows(tmp_path / "columns", "trace")[0]["ending"] == "cut-short"


def test_events_that_were_lost_are_counted(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", f"0 {LOAD} 4096 1\n0 {LOST} 17 0", "end 3 28 1 17")
    outcome = halo("columns", str(trace), "-o", str(tmp_path / "columns"))
    assert "17 events were lost" in outcome.stderr
    assert "No space left" in outcome.stderr
    (row,) = rows(tmp_path / "columns", "trace")
    assert (row["ending"], row["lost"]) == ("no-space", 17)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"#!/bin/sh\necho\n", "not a trace"),
        (b"HALOTRC\n" + (99).to_bytes(4, "little") + bytes(4), "version 99"),
    ],
)
def test_what_is_not_a_trace_leaves_nothing(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "t").write_bytes(content)
    outcome = halo("columns", "t", cwd=tmp_path)
    assert outcome.status == 121
    assert outcome.stderr.count("\n") == 1
    assert sentence in outcome.stderr
    assert os.listdir(tmp_path) == ["t"]


def test_damage_keeps_what_precedes_it(tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "t", f"{ONE_NODE}0 {LOAD} 4096 1\nround 30\n0 {LOAD} 4096 1")
    content = bytearray(whole.read_bytes())
    content[-50] ^= 255  # in the last events: 48 bytes of the end follow
    whole.write_bytes(content)
    outcome = halo("columns", "t", "-o", "columns", cwd=tmp_path)
    assert outcome.status == 121
    assert "the events before that are in columns" in outcome.stderr
    assert len(rows(tmp_path / "columns", "accesses")) >= 5


def test_traces_of_two_builds_are_not_mixed(tmp_path: Path) -> None:
    write_trace(tmp_path / "one", ONE_NODE)
    write_trace(tmp_path / "other", ONE_NODE, build="cd34")
    outcome = halo("columns", "one", "other", cwd=tmp_path)
    assert outcome.status == 117
    assert "another build" in outcome.stderr
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


def test_two_processes_of_one_build_stay_apart(tmp_path: Path) -> None:
    one = write_trace(tmp_path / "t", ONE_NODE)
    other = write_trace(tmp_path / "other", ONE_NODE, pid=78)
    columns = convert(tmp_path, str(one), str(other))
    accesses = rows(columns, "accesses")
    assert [row["thread"] for row in accesses] == [0, 0, 0, 1, 1, 2, 2, 2, 3, 3]
    assert accesses[5]["seq"] == accesses[0]["seq"] + 9
    assert accesses[5]["address"] == accesses[0]["address"] + (1 << 48)
    assert (accesses[5]["object"], accesses[9]["object"]) == (2, 0)
    sites = {row["site"]: row["variable"] for row in rows(columns, "sites")}
    assert sites[accesses[5]["site"]] == "node.next"
    assert len(rows(columns, "trace")) == 1


def test_a_trace_given_twice_is_refused(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", ONE_NODE)
    (tmp_path / "link").symlink_to("t")
    (tmp_path / "copy").write_bytes(trace.read_bytes())
    for again in ("t", "link", "copy"):
        outcome = halo("columns", "t", again, "-o", "columns", cwd=tmp_path)
        assert outcome.status == 117
        assert outcome.stderr == f"halo: {again} is given twice; its events would count double.\n"
    assert not (tmp_path / "columns").exists()


def test_a_trace_that_is_not_there_has_one_status_everywhere(tmp_path: Path) -> None:
    for command in (["columns"], ["record", "--trace"], ["offenders"], ["trace", "show"]):
        outcome = halo(*command, "nothing", cwd=tmp_path)
        assert (outcome.status, outcome.stderr) == (117, "halo: nothing does not exist.\n")
    assert os.listdir(tmp_path) == []


def test_a_bad_trace_has_one_status_everywhere(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("no trace")
    commands = (["trace", "convert"], ["record", "--trace"], ["trace", "offenders"])
    for command in (*commands, ["trace", "show"], ["trace", "show", "--events"]):
        outcome = halo(*command, "bad", cwd=tmp_path)
        assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (121, "", 1)
    assert os.listdir(tmp_path) == ["bad"]


def test_a_folder_in_no_folder_is_refused(tmp_path: Path) -> None:
    write_trace(tmp_path / "t", ONE_NODE)
    outcome = halo("columns", "t", "-o", "a/b", cwd=tmp_path)
    assert (outcome.status, outcome.stderr.count("\n")) == (117, 1)
    assert os.listdir(tmp_path) == ["t"]


@pytest.mark.parametrize("made", [False, True])
def test_a_full_disk_leaves_nothing(tmp_path: Path, made: bool) -> None:
    """By a limit on the size of files, below that of the events."""
    trace = write_trace(tmp_path / "t", ONE_NODE)
    if made:
        (tmp_path / "columns").mkdir()
    outcome = subprocess.run(
        [sys.executable, "-m", "halo", "columns", str(trace), "-o", "columns"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)),
        check=False,
    )
    assert (outcome.returncode, outcome.stderr.count("\n")) == (117, 1)
    assert "cannot be written" in outcome.stderr
    assert sorted(os.listdir(tmp_path)) == (["columns", "t"] if made else ["t"])
    assert not made or os.listdir(tmp_path / "columns") == []


def test_an_analysis_of_a_damaged_trace_names_no_folder_of_its_own(tmp_path: Path) -> None:
    whole = write_trace(tmp_path / "t", f"{ONE_NODE}0 {LOAD} 4096 1\nround 30\n0 {LOAD} 4096 1")
    content = bytearray(whole.read_bytes())
    content[-50] ^= 255
    whole.write_bytes(content)
    outcome = halo("offenders", "t", cwd=tmp_path)
    assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (121, "", 1)
    assert "`halo study trace convert` keeps the events before that" in outcome.stderr
    assert "/tmp" not in outcome.stderr


def test_live_wants_an_instrumented_program(tmp_path: Path) -> None:
    outcome = halo("columns", "--live", "folder", "--", "/bin/true", cwd=tmp_path)
    assert outcome.status == 113
    assert "is not instrumented: build it with halo-cc" in outcome.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["columns", "--no-simulation", "--machine", "m", "t"],
        ["offenders", "--threads", "0", "t"],
        ["offenders", "--type", "", "t"],
        ["sharing", "--file", "!", "t"],
        ["record", "--trace", "t", "--producer", "valgrind"],
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path: Path, arguments: list[str]) -> None:
    write_trace(tmp_path / "t", ONE_NODE)
    outcome = halo(*arguments, cwd=tmp_path)
    assert (outcome.status, outcome.stderr.count("\n")) == (111, 1)
    assert os.listdir(tmp_path) == ["t"]


def test_a_folder_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    write_trace(tmp_path / "t", ONE_NODE)
    (tmp_path / "mine").write_text("kept")
    outcome = halo("columns", "t", "-o", str(tmp_path), cwd=tmp_path)
    assert outcome.status == 117
    assert (tmp_path / "mine").read_text() == "kept"


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return instrumented("hospital", tmp_path_factory.mktemp("hospital"))


def test_a_real_programs_columns_agree_with_its_events(hospital: Path, tmp_path: Path) -> None:
    trace = trace_of(hospital, tmp_path / "t", "4", "5", "1")
    columns = convert(tmp_path, str(trace))
    command = [str(BUILD / "bin" / "halo-trace"), "events", str(trace)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    kinds = [line.split()[1] for line in lines if line[0] != "#"]
    accesses = rows(columns, "accesses")
    wanted = ("load", "store", "update", "read-range", "write-range")
    assert len(accesses) == sum(kind in wanted for kind in kinds)
    assert len(rows(columns, "allocations")) == kinds.count("alloc")
    assert len(rows(columns, "frees")) == kinds.count("free")
    assert len(rows(columns, "calls")) == kinds.count("enter") + kinds.count("exit")
    bytes_of = {row["object"]: row["bytes"] for row in rows(columns, "allocations")}
    assert all(row["object_offset"] < bytes_of[row["object"]] for row in accesses if row["object"])


def test_without_debug_information_it_says_what_is_missing(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int main(int n, char **v) { return v[0][0] == v[0][n]; }")
    compiler = BUILD.parent / "bin" / "halo-cc"
    command = [str(compiler), "-O1", "-g0", str(source), "-o", str(tmp_path / "a")]
    subprocess.run(command, check=True)
    environment = {**os.environ, "HALO_TRACE": f"file:{tmp_path / 't'}"}
    subprocess.run([str(tmp_path / "a")], env=environment, check=False)
    outcome = halo("columns", "t", cwd=tmp_path)
    assert outcome.status == 0
    assert "Debug information is missing: 100% of the accesses have no line" in outcome.stderr


def test_live_files_appear_while_the_program_runs(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(
        "#include <unistd.h>\n#include <stdlib.h>\n"
        "int main(void) { for (int i = 0; i < 40; ++i) {"
        " volatile int *p = malloc(4); for (int k = 0; k < 1000; ++k) *p += k;"
        " free((void *)p); usleep(100000); } return 5; }"
    )
    compiler = BUILD.parent / "bin" / "halo-cc"
    subprocess.run([str(compiler), "-O1", str(source), "-o", str(tmp_path / "a")], check=True)
    command = [sys.executable, "-m", "halo", "columns", "--live", "live", "--", "./a"]
    with subprocess.Popen(command, cwd=tmp_path) as running:
        accesses = tmp_path / "live" / "accesses"
        seen = 0
        while running.poll() is None:
            seen = max(seen, len(list(accesses.glob("*.parquet"))))
            time.sleep(0.05)
    assert running.returncode == 5
    assert seen >= 2
    assert len(rows(tmp_path / "live", "accesses")) >= 80000
    assert rows(tmp_path / "live", "trace")[0]["ending"] == "complete"


def test_show_ends_as_other_commands_if_its_output_cannot_be_written(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "t", ONE_NODE)
    show = f"'{sys.executable}' -m halo study trace show --events {trace}"
    full = subprocess.run(["bash", "-c", f"{show} > /dev/full"], capture_output=True, text=True)
    assert (full.returncode, full.stderr.count("\n")) == (117, 1)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "halo", "trace", "show", "--events", str(trace)]
    closed = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (closed.returncode, closed.stderr) == (141, b"")
