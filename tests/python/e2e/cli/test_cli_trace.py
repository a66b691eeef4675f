"""`halo study trace`: what it leaves, says and passes through."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command import REPOSITORY, halo
from support.programs.tracing import LOAD, program, summarise


def test_the_trace_lies_here_under_the_programs_name(tmp_path: Path) -> None:
    done = halo("study", "trace", "run", "--", str(program("count")), "100", "1", cwd=tmp_path)
    assert done.status == 7
    assert summarise((tmp_path / "count.trace").read_bytes()).count(LOAD) == 50
    assert done.stderr.startswith("halo: count.trace: ") and done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["count.trace"]


def test_traces_of_children_lie_beside_it_and_are_counted(tmp_path: Path) -> None:
    done = halo(
        "study", "trace", "run", "-o", "t", "--", str(program("life")), "fork", cwd=tmp_path
    )
    assert done.status == 3
    child = tmp_path / f"t.{done.stdout.strip()}"
    assert summarise(child.read_bytes()).count(LOAD) == 30
    assert "1 further process in t.*" in done.stderr


def test_a_signal_is_passed_through(tmp_path: Path) -> None:
    done = halo(
        "study", "trace", "run", "-o", "t", "--", str(program("life")), "kill", cwd=tmp_path
    )
    assert done.status == -signal.SIGKILL
    assert "cut short, as the program was killed" in done.stderr


def test_a_trace_that_was_there_stays_until_there_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("old")
    refused = halo("study", "trace", "run", "-o", "t", "--", "/bin/true", cwd=tmp_path)
    assert (refused.status, (tmp_path / "t").read_text()) == (113, "old")
    assert "is not instrumented: build it with halo-cc" in refused.stderr
    halo("study", "trace", "run", "-o", "t", "--", str(program("count")), "100", "1", cwd=tmp_path)
    assert summarise((tmp_path / "t").read_bytes()).count(LOAD) == 50


def test_text_and_none(tmp_path: Path) -> None:
    count = str(program("count"))
    assert (
        halo(
            "study", "trace", "run", "--text", "-o", "t", "--", count, "4", "1", cwd=tmp_path
        ).status
        == 7
    )
    assert len((tmp_path / "t").read_text().splitlines()) == 4
    quiet = halo("study", "trace", "run", "--none", "--", count, "4", "1", cwd=tmp_path)
    assert (quiet.status, quiet.stderr) == (7, "")
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_bad_place_is_one_sentence(tmp_path: Path) -> None:
    count = str(program("count"))
    for output in ("nowhere/t", "."):
        done = halo("study", "trace", "run", "-o", output, "--", count, "4", "1", cwd=tmp_path)
        assert done.status == 117 and done.stderr.count("\n") == 1
    assert halo("study", "trace", cwd=tmp_path).status == 111


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """256 KiB at `folder`."""
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs privileges")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("form", [[], ["--text"]])
def test_a_full_disk_is_told_of(tmp_path: Path, form: list[str]) -> None:
    random_values = ["--", str(program("random_values")), "400000"]
    with small_disk(tmp_path) as disk:
        done = halo("study", "trace", "run", *form, "-o", "t", *random_values, cwd=disk)
        assert done.status == 7
        assert "ended early, as writing failed (No space left on device)" in done.stderr
        if form:
            lines = (disk / "t").read_text().split("\n")
            assert lines[-2:] == ["# ended early: errno 28", ""]
            assert {line.count("\t") for line in lines[:-2]} == {7}
            assert len(lines) > 1000


@pytest.mark.parametrize("form", [[], ["--text"]])
def test_a_disk_that_is_full_from_the_start_is_told_of(tmp_path: Path, form: list[str]) -> None:
    count = ["--", str(program("count")), "100", "1"]
    with small_disk(tmp_path) as disk:
        with (disk / "filler").open("wb") as filler, pytest.raises(OSError, match="No space"):
            filler.write(bytes(1 << 20))
        done = halo("study", "trace", "run", *form, "-o", "t", *count, cwd=disk)
    assert done.status == 7
    assert done.stderr == "halo: t: 0 bytes; nothing could be written\n"


def test_filters_that_match_nothing_are_told_of(tmp_path: Path) -> None:
    source = tmp_path / "quiet.c"
    source.write_text("int main(int count, char **words) { return words[count] != 0; }\n")
    wrapper = str(REPOSITORY / "bin" / "halo-cc")
    for name, glob in (("quiet", "nosuch*"), ("loud", "ma*")):
        command = [wrapper, f"--halo-function={glob}", str(source), "-o", str(tmp_path / name)]
        subprocess.run(command, check=True)
        done = halo("study", "trace", "run", "--", f"./{name}", cwd=tmp_path)
        assert done.status == 0
        assert ("the filters of the compiler match nothing" in done.stderr) is (name == "quiet")
