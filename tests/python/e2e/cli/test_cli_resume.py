"""Measurements that were killed continue where they stopped: `run`, `bench` and `heap age`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.command import BUILD, halo

RBTREE = str(BUILD / "bench" / "rbtree")
TRAIN = (RBTREE, "20000", "40000", "2000", "1")
REFERENCE = (RBTREE, "30000", "50000", "2000", "2")
RUN = ("run", "--trials", "3", "--candidates", "halo,dense")
AGE = ("heap", "age", "--trials", "3", "--occupancy", "0.5", "--seed", "1")


WORKLOADS = "".join(
    f"""
[[workload]]
name = "{name}"
summary = "a program"
program = "hospital"
train = ["4", "300", "1"]
ref = ["4", "400", "2"]
"""
    for name in ("first", "second")
)


def kill_at(command: Sequence[str], stage: Path) -> None:
    """Runs halo until that file of a stage is there, and kills it with all that it has started."""
    running = subprocess.Popen(
        [sys.executable, "-m", "halo", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not stage.is_file() and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert stage.is_file() and running.poll() is None, stage
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def stages(folder: Path) -> dict[str, Any]:
    """The results of the stages in that folder, by name."""
    return {
        path.stem: json.loads(path.read_text())["result"]
        for path in (folder / "stages").glob("*.json")
        if path.name != "question.json"
    }


def check_resumed(command: Sequence[str], folder: Path, killed_at: Sequence[str]) -> Any:
    """Kills halo at each of these stages; then it ends, and no finished stage was run again."""
    kept: dict[str, Any] = {}
    for name in killed_at:
        kill_at(command, folder / "stages" / f"{name}.json")
        now = stages(folder)
        for stage, result in kept.items():
            assert now[stage][: len(result)] == result if isinstance(result, list) else True
            assert isinstance(result, list) or now[stage] == result
        kept = now
        assert not (folder / "results.json").exists()
    done = halo(*command)
    assert done.status == 0, done.stderr
    repeated = halo(*command)
    assert (repeated.status, repeated.stdout) == (0, done.stdout)
    now = stages(folder)
    for stage, result in kept.items():
        whole = now[stage]
        assert (whole[: len(result)] if isinstance(result, list) else whole) == result
    return json.loads((folder / "results.json").read_text())


def test_run(tmp_path: Path) -> None:
    command = (*RUN, "--results", str(tmp_path / "r"), "--", *TRAIN, "--", *REFERENCE)
    found = check_resumed(command, tmp_path / "r", ["allocators", "record", "race-1"])
    assert found["summary"]["outputs_equal"] is True
    assert {len(trials) for trials in found["trials"]["reference"].values()} == {3}
    before = tree(tmp_path)
    again, once_more = halo(command[0], "--json", "-", *command[1:]), halo(*command)
    assert again.status == once_more.status == 0, again.stderr
    assert again.stderr.splitlines()[0].endswith(f"measured before, in {tmp_path}/r; its answer:")
    assert json.loads(again.stdout) == found["summary"]
    assert shown(once_more.stdout) == shown(again.stderr)
    assert tree(tmp_path) == before
    other = halo(*RUN, "--cpu", "0", *command[len(RUN) :])
    assert other.status == 117
    assert "it differs in the command (it was: run --trials 3" in other.stderr
    assert tree(tmp_path) == before


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shown(output: str) -> list[str]:
    """The answer: from the table of the race to the next commands."""
    lines = output.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("The race"))
    assert any(line.startswith("Next: ") for line in lines)
    return lines[start:]


def test_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workloads.toml").write_text(WORKLOADS)
    monkeypatch.setenv("HALO_BENCH", str(tmp_path))
    results = tmp_path / "results"
    options = ("--trials", "1", "--candidates", "halo", "--results", str(results))
    command = ("bench", *options, "first", "second")
    folder = results / "first"
    for name in ("allocators", "record", "race-0"):
        kill_at(command, folder / "stages" / f"{name}.json")
    kept = stages(folder)
    done = halo("bench", *options[:-1], str(folder), "first")
    assert done.status == 0, done.stderr
    found = stages(folder)
    assert found["record"] == kept["record"] and found["allocators"] == kept["allocators"]


def test_age(tmp_path: Path) -> None:
    command = (*AGE, "--results", str(tmp_path / "r"), "--", *TRAIN)
    found = check_resumed(command, tmp_path / "r", ["aged", "aged", "aged"])
    for level in found["aged"]["levels"]:
        assert {len(trials) for trials in level["trials"].values()} == {3}


@pytest.mark.parametrize("arguments", [("run",), ("heap", "age")])
def test_an_interruption_says_how_to_continue(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    folder = tmp_path / "a folder"
    options = RUN[1:] if arguments == ("run",) else AGE[2:]
    rest = ("--", *TRAIN, "--", *REFERENCE) if arguments == ("run",) else ("--", *TRAIN)
    running = subprocess.Popen(
        [sys.executable, "-m", "halo", *arguments, *options, "--results", str(folder), *rest],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    stage = folder / "stages" / ("allocators.json" if arguments == ("run",) else "aged.json")
    while not stage.is_file() and running.poll() is None:
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=60)
    assert running.returncode == 130, complaint
    assert f"--results '{folder}'" in complaint
