"""What an output's name may lead to: links stay, and devices and pipes keep their kind."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from halo.base.errors import BadInput
from halo.base.files.atomic import write_atomically
from support.command import halo
from support.programs.tracing import program

FULL = (1, 7)  # the device that is always full


def device(path: Path) -> Path:
    """A device of this test's own: the machine's are not to be put at risk."""
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(*FULL))
        os.close(os.open(path, os.O_WRONLY))
    except PermissionError:
        pytest.skip("making a device needs privileges")
    return path


def reading(fifo: Path) -> tuple[threading.Thread, list[bytes]]:
    parts: list[bytes] = []
    reader = threading.Thread(target=lambda: parts.append(fifo.read_bytes()), daemon=True)
    reader.start()
    return reader, parts


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader, parts = reading(tmp_path / "pipe")
    write_atomically(tmp_path / "pipe", b"x" * 100000)
    reader.join(60)
    assert b"".join(parts) == b"x" * 100000
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("by_link", [False, True])
def test_a_full_device_is_one_sentence_and_stays(tmp_path: Path, by_link: bool) -> None:
    name = device(tmp_path / "full")
    if by_link:
        name = tmp_path / "link"
        name.symlink_to("full")
    with pytest.raises(BadInput, match="cannot be written: No space left"):
        write_atomically(name, b"x")
    assert (tmp_path / "full").is_char_device()
    assert name.is_symlink() == by_link


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_symbolic_link_stays_and_its_target_is_replaced(
    tmp_path: Path, before: bytes | None
) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    if before:
        target.write_bytes(before)
    (tmp_path / "one").symlink_to("folder/other")
    (tmp_path / "folder" / "other").symlink_to("target")
    write_atomically(tmp_path / "one", b"new")
    assert (target.read_bytes(), (tmp_path / "one").is_symlink()) == (b"new", True)
    assert sorted(os.listdir(tmp_path / "folder")) == ["other", "target"]


def test_links_in_a_circle_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadInput, match="cannot be written"):
        write_atomically(tmp_path / "a", b"new")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_stays_the_file_that_the_shell_has_opened(
    tmp_path: Path, name: str
) -> None:
    code = (
        "import sys; from halo.base.files.atomic import write_atomically;"
        f"write_atomically({name!r}, b'one\\n'); print('two')"
    )
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "one\ntwo\n"
    assert os.listdir(tmp_path) == ["out"]


def test_a_reader_that_has_gone_is_one_sentence() -> None:
    reading_end, writing_end = os.pipe()
    os.close(reading_end)
    with pytest.raises(BadInput, match="Broken pipe"):
        write_atomically(f"/dev/fd/{writing_end}", b"x")
    os.close(writing_end)


def test_a_trace_needs_a_regular_file(tmp_path: Path) -> None:
    device(tmp_path / "full")
    os.mkfifo(tmp_path / "pipe")
    count = [str(program("count")), "100", "1"]
    for name in ("full", "pipe"):
        done = halo("study", "trace", "run", "-o", name, "--", *count, cwd=tmp_path)
        assert (done.status, done.stderr.count("\n")) == (117, 1)
        assert f"{name} is not a regular file" in done.stderr
    assert (tmp_path / "full").is_char_device()
    assert sorted(os.listdir(tmp_path)) == ["full", "pipe"]


def test_a_traces_symbolic_link_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/t")
    done = halo(
        "study", "trace", "run", "-o", "link", "--", str(program("count")), "100", "1", cwd=tmp_path
    )
    assert done.status == 7
    assert (tmp_path / "link").is_symlink()
    assert os.listdir(tmp_path / "folder") == ["t"]


def test_a_recording_goes_through_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader, parts = reading(tmp_path / "pipe")
    assert halo("record", "-o", "pipe", "--", "/bin/true", cwd=tmp_path).status == 0
    reader.join(60)
    assert b"".join(parts)[:2] == b"\x1f\x8b"
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_plan_that_goes_through_a_pipe_leaves_nothing_beside_it(tmp_path: Path) -> None:
    assert halo("record", "-o", "p", "--", "/bin/true", cwd=tmp_path).status == 0
    os.mkfifo(tmp_path / "pipe")
    reader, parts = reading(tmp_path / "pipe")
    assert halo("plan", "p", "-o", "pipe", cwd=tmp_path).status == 0
    reader.join(60)
    assert parts[0]
    assert sorted(os.listdir(tmp_path)) == ["p", "pipe"]
