"""libhalo-logging.so: what the hook leaves alone, and that no event is lost on its way."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.programs.tracing import (
    ALLOC,
    ALLOC_FROM,
    FRAME,
    FREE,
    LOAD,
    LOST,
    STORE,
    program,
    run,
    traced,
)


@pytest.mark.parametrize("trace", ["", "none", "file:{}/t"])
def test_registers_errno_and_rounding_are_kept(trace: str, tmp_path: Path) -> None:
    registers = program("registers", "-fno-pie", "-no-pie", "-mno-red-zone")
    done = run(registers, trace=trace.format(tmp_path))
    assert (done.stdout, done.returncode) == ("", 7)


@pytest.mark.parametrize("threads", [1, 4])
def test_each_event_of_each_thread_arrives_once(threads: int, tmp_path: Path) -> None:
    count = 300_000  # several segments
    status, _, found = traced("count", str(count), str(threads), trace=tmp_path / "t")
    assert status == 7
    for kind in (LOAD, STORE):
        # A thread that starts after another one has ended may get that one's number.
        counts = [number for (_, it), (number, _) in found.threads.items() if it == kind]
        assert all(number % (count // 2) == 0 for number in counts)
        assert sum(counts) == threads * count // 2
    values = sum(total for (_, kind), (_, total) in found.threads.items() if kind in (LOAD, STORE))
    expected = threads * count * (count - 1) // 2 + count * sum(t << 32 for t in range(threads))
    assert values == expected
    assert found.end == [1, 0, found.all, 0]


def test_handlers_log_without_loss(tmp_path: Path) -> None:
    status, output, found = traced("signals", "2000000", trace=tmp_path / "t")
    assert status == 7
    assert found.count(LOAD) == 2_000_000
    assert found.count(STORE) == 3 * int(output) > 0


def test_a_handler_that_jumps_loses_one_event_and_says_so(tmp_path: Path) -> None:
    status, output, found = traced("signals", "2000000", "jump", trace=tmp_path / "t")
    assert status == 7
    assert found.count(STORE) == 3 * int(output)
    jumps = int(output) // 4
    assert 2_000_000 - jumps <= found.count(LOAD) + found.count(LOST) <= 2_000_000
    assert found.end is not None and found.end[3] == found.count(LOST)


def test_modules_at_one_address_are_told_apart(tmp_path: Path) -> None:
    modules = [
        program("module", "-shared", "-fPIC", f"-DLINE={line}", output=f"{line}.so")
        for line in (100, 200)
    ]
    # The second is the same file but for its lines, so it lies where the first one did.
    names = [str(shutil.copy(path, tmp_path)) for path in modules]
    status, output, found = traced("loader", "5", *names, trace=tmp_path / "t")
    assert status == 7 and int(output) > 0
    assert (found.count(1100), found.count(1200)) == (5 * 100, 5 * 200)
    assert set(found.modules) >= set(names)


def test_a_module_that_comes_back_is_written_once(tmp_path: Path) -> None:
    module = str(program("module", "-shared", "-fPIC", "-DLINE=100", output="100.so"))
    status, _, found = traced("loader", "50", module, trace=tmp_path / "t")
    assert status == 7
    assert found.count(1100) == 50 * 100
    assert len(found.modules) < 10


def test_the_program_and_its_code_are_described(tmp_path: Path) -> None:
    path = program("count")
    _, _, found = traced("count", "10", "1", trace=tmp_path / "t")
    assert found.about["format"] == "halo-trace"
    assert found.about["program"] == str(path.resolve())
    assert found.about["args"] == [str(path), "10", "1"]
    (own,) = [mapping for mapping in found.maps if mapping[3] == str(path.resolve())]
    assert own[0] < own[1] and own[4] == found.about["build_id"] != ""
    assert found.modules == [str(path.resolve())]
    assert any(mapping[3].endswith("libc.so.6") for mapping in found.maps)


def test_code_that_is_not_instrumented_is_named_by_its_frames(tmp_path: Path) -> None:
    status, _, found = traced("allocations", "100", "0", trace=tmp_path / "direct")
    assert (status, found.count(FRAME)) == (7, 0)
    assert found.count(ALLOC) == found.count(ALLOC_FROM) == found.count(FREE) == 100
    status, _, found = traced("allocations", "100", "10", trace=tmp_path / "mixed")
    assert status == 7
    assert found.count(ALLOC) == found.count(ALLOC_FROM) == found.count(FREE) == 110
    # Where strdup returns to, and what lies between main and the beginning of the program.
    assert found.count(FRAME) >= 10 and found.count(FRAME) % 10 == 0
