"""Mixes of recorded programs against a slow merge, and against other simulations of the trace."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.record.simulation import machine_text
from support import corun_reference
from support.command import BUILD, halo

MACHINE = """
prefetch = ["next-line", "streams"]
[[cache]]
name = "L1"
bytes = 16384
ways = 4
[[cache]]
name = "L2"
bytes = 262144
ways = 8
cycles = 45
[[tlb]]
name = "TLB"
pages = 64
ways = 4
"""
SHAPE, COSTS = (512, 8), (45, 200)
PROGRAMS = {
    "rbtree": ("6000", "20000", "500", "1"),
    "frames": ("3", "100000", "60000", "8000", "1"),
}
SEED = 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds a machine, and the object trace and the stream of each program."""
    made = tmp_path_factory.mktemp("corun")
    (made / "machine.toml").write_text(MACHINE)
    (made / "machine").write_text(machine_text(made / "machine.toml"))
    for name, arguments in PROGRAMS.items():
        trace = made / f"{name}.objects"
        options = ["--machine", str(made / "machine.toml"), "--quick", "--json"]
        program = [str(BUILD / "bench" / name), *arguments]
        layout = str(made / f"{name}.json")
        outcome = halo("study", "layout", *options, layout, "-o", str(trace), "--", *program)
        assert outcome.status in (0, 1), outcome.stderr
        tool(made, "halo-corun-stream", f"--output={made / name}", str(trace))
    return made


def tool(folder: Path, name: str, *arguments: str) -> str:
    command = [str(BUILD / "bin" / name), f"--machine={folder / 'machine'}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def mixed(folder: Path, classes: str, *names: str) -> list[dict[str, int]]:
    streams = [str(folder / names[0]), *(f"--with={folder / name}" for name in names[1:])]
    found = json.loads(tool(folder, "halo-corun", f"--classes={classes}", *streams))
    (run,) = found["runs"]
    assert run["seed"] == SEED
    programs: list[dict[str, int]] = run["programs"]
    return programs


COLUMNS = {"confined": 2, "exact": 3, "predicted": 4, "online": 5, "learnt": 6}  # of an owner


def confined(stream: corun_reference.Stream, classes: str) -> Sequence[bool]:
    column = COLUMNS.get(classes)
    return [bool(column and owner[2] and owner[column]) for owner in stream.owners]


@pytest.mark.parametrize("classes", ["open", *COLUMNS])
def test_a_slow_merge_agrees(folder: Path, classes: str) -> None:
    streams = [corun_reference.read_stream(folder / name) for name in PROGRAMS]
    assert sum(len(stream.requests) for stream in streams) > 100_000
    expected = corun_reference.run_mix(
        streams, [confined(stream, classes) for stream in streams], SHAPE, COSTS, SEED
    )
    found = mixed(folder, classes, *PROGRAMS)
    assert [one["cycles"] for one in found] == [one.cycles for one in expected]
    assert [one["accesses"] for one in found] == [one.accesses for one in expected]
    assert [one["misses"] for one in found] == [one.misses for one in expected]
    assert [one["fetches"] for one in found] == [one.fetches for one in expected]
    assert all(one["demands"] < one["fetches"] < one["accesses"] for one in found)
    assert [one["runs"] for one in found] == [one.runs for one in expected]


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_alone_has_the_misses_of_its_simulation(folder: Path, name: str) -> None:
    replayed = json.loads((folder / f"{name}.json").read_text())["replayed"]
    recorded = replayed["replays"][0]
    assert recorded["order"] == "as-recorded"
    (alone,) = mixed(folder, "open", name)
    stream = corun_reference.read_stream(folder / name)
    assert stream.head["complete"] == 1
    assert stream.head["accesses"] == recorded["accesses"]
    assert alone["demands"] == recorded["misses"]["L1"]
    assert alone["missed_demands"] == recorded["misses"]["L2"]
    assert alone["missed_demands"] > 1000


def test_a_program_that_is_cut_is_the_beginning(folder: Path) -> None:
    whole = corun_reference.read_stream(folder / "rbtree")
    limit = whole.head["accesses"] // 3
    path = folder / "cut"
    trace = str(folder / "rbtree.objects")
    tool(folder, "halo-corun-stream", f"--limit={limit}", f"--output={path}", trace)
    cut = corun_reference.read_stream(path)
    assert cut.head["complete"] == 0
    assert limit <= cut.head["accesses"] < limit * 1.01
    plain = [(it.cycle, it.kind, it.line) for it in whole.requests]
    assert [(it.cycle, it.kind, it.line) for it in cut.requests] == plain[: len(cut.requests)]
    assert len(cut.requests) > 1000


def test_a_stream_of_another_machine_is_refused(folder: Path) -> None:
    other = folder / "other"
    other.write_text((folder / "machine").read_text().replace("cache L1 64 4", "cache L1 32 4"))
    command = [str(BUILD / "bin" / "halo-corun"), f"--machine={other}", str(folder / "rbtree")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 3
    assert "other private levels" in done.stderr
