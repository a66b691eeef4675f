"""libhalo-logging.so: file, text, socket, pipe and nothing, and outputs that fail."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from support.programs.tracing import COMPLETE, LOAD, NO_SPACE, program, run, summarise


def read_all(descriptor: int, into: list[bytes]) -> None:
    while part := os.read(descriptor, 1 << 16):
        into.append(part)


def test_a_pipe_gets_the_whole_trace() -> None:
    reading, writing = os.pipe()
    parts: list[bytes] = []
    reader = threading.Thread(target=read_all, args=(reading, parts))
    reader.start()
    done = run(program("life"), "fork", trace=f"pipe:{writing}", fds=(writing,))
    os.close(writing)
    reader.join()
    os.close(reading)
    found = summarise(b"".join(parts))
    assert done.returncode == 3
    assert found.end == [COMPLETE, 0, found.all, 0]
    assert found.count(LOAD) == 1000  # nothing of the child's


def test_a_socket_gets_a_trace_of_each_process(tmp_path: Path) -> None:
    traces: list[bytes] = []

    def serve() -> None:
        for _ in range(2):
            connection, _ = server.accept()
            parts: list[bytes] = []
            read_all(connection.fileno(), parts)
            connection.close()
            traces.append(b"".join(parts))

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        threads = [threading.Thread(target=serve)]
        for thread in threads:
            thread.start()
        done = run(program("life"), "exec", trace=f"socket:{tmp_path}/s")
        for thread in threads:
            thread.join()
    assert done.returncode == 3
    assert [summarise(trace).count(LOAD) for trace in traces] == [1000, 20]


@pytest.mark.parametrize("kind", ["socket", "pipe"])
def test_a_reader_that_goes_away_is_not_noticed(kind: str, tmp_path: Path) -> None:
    path = program("random_values")
    if kind == "pipe":
        reading, writing = os.pipe()
        os.close(reading)
        done = run(path, "300000", trace=f"pipe:{writing}", fds=(writing,))
        os.close(writing)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(tmp_path / "s"))
            server.listen()
            gone = threading.Thread(target=lambda: server.accept()[0].close())
            gone.start()
            done = run(path, "300000", trace=f"socket:{tmp_path}/s")
            gone.join()
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


@pytest.mark.parametrize("limit", [1200, 5000, 100_000, 1_000_000])
def test_a_file_that_cannot_grow_ends_with_the_reason(limit: int, tmp_path: Path) -> None:
    """By the limit on the size of files: it needs no disk to be filled."""
    trace = f"file:{tmp_path}/t"
    done = run(program("random_values"), "400000", trace=trace, largest_file=limit)
    assert done.returncode == 7
    found = summarise((tmp_path / "t").read_bytes())
    assert (tmp_path / "t").stat().st_size <= limit
    assert found.end is not None
    ending, error, written, lost = found.end
    assert (ending, error, written) == (NO_SPACE, 27, found.all)  # EFBIG
    assert found.complete and lost > 0


def test_a_full_disk_ends_the_trace_and_not_the_program(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs privileges")
    try:
        done = run(program("random_values"), "400000", trace=f"file:{tmp_path}/t")
        found = summarise((tmp_path / "t").read_bytes())
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert done.returncode == 7
    assert found.end is not None and found.end[:3] == [NO_SPACE, 28, found.all]  # ENOSPC
    assert found.end[3] > 0


@pytest.mark.parametrize("form", ["file", "text"])
def test_a_device_that_is_always_full_does_no_harm(form: str) -> None:
    done = run(program("random_values"), "300000", trace=f"{form}:/dev/full")
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    assert not [name for name in os.listdir("/dev") if name.startswith("full.")]


def test_a_file_that_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("mine")
    done = run(program("count"), "10", "1", trace=f"file:{tmp_path}/t")
    assert done.returncode == 7
    assert (tmp_path / "t").read_text() == "mine"
    (other,) = [path for path in tmp_path.iterdir() if path.name != "t"]
    assert summarise(other.read_bytes()).count(LOAD) == 5


def test_a_program_that_closes_all_descriptors_keeps_its_own(tmp_path: Path) -> None:
    done = run(program("closing"), str(tmp_path / "mine"), trace=f"file:{tmp_path}/t")
    assert done.returncode == 7
    assert (tmp_path / "mine").read_text() == "mine\n"


def test_text_is_a_line_an_event(tmp_path: Path) -> None:
    done = run(program("count"), "3", "1", trace=f"text:{tmp_path}/t")
    assert done.returncode == 7
    lines = [line.split("\t") for line in (tmp_path / "t").read_text().splitlines()]
    place = ["walk.c:12:7", "walk"]
    assert lines == [
        ["0", "load", "node.next", "struct node *", "0x1000", "0", *place],
        ["0", "store", "node.next", "struct node *", "0x1008", "1", "walk.c:13:3", "walk"],
        ["0", "load", "node.next", "struct node *", "0x1010", "2", *place],
    ]


def test_none_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(program("count")), "200000", "3"],
        env={**os.environ, "HALO_TRACE": "none"},
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 7
    assert list(tmp_path.iterdir()) == []
