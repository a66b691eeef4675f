"""The programs with a fault: their repaired variants compute the same, and read arguments alike."""

from __future__ import annotations

import subprocess
import sys

import pytest

from halo.base.settings import read_settings
from support.command import REPOSITORY

TINY = {
    "arcs": ("1000", "20", "3"),
    "particles": ("100", "5", "20", "3"),
    "counters": ("50", "300", "4", "3", "3"),
}
VARIANTS = [
    ("arcs", "arcs-repaired"),
    ("particles", "particles-repaired"),
    ("counters", "counters-repaired"),
    ("counters", "counters-adjacent"),
]


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = read_settings().build / "bench" / name
    return subprocess.run([program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_repaired_program_prints_the_same(name: str, variant: str) -> None:
    faulty = run(name, *TINY[name])
    assert faulty.returncode == 0 and "checksum" in faulty.stdout
    assert run(variant, *TINY[name]).stdout == faulty.stdout


@pytest.mark.parametrize("name", TINY)
def test_the_seed_decides_the_result(name: str) -> None:
    *sizes, _ = TINY[name]
    assert run(name, *sizes, "3").stdout != run(name, *sizes, "4").stdout


@pytest.mark.parametrize("workers", ["1", "2", "7"])
def test_the_number_of_workers_changes_no_count(workers: str) -> None:
    records, keys, passes, _, seed = TINY["counters"]
    found = run("counters", records, keys, passes, workers, seed)
    assert found.stdout == run("counters", *TINY["counters"]).stdout


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("wrong", [("x",), ("1", "2"), ("-1",) * 5])
def test_wrong_arguments_end_in_one_sentence(name: str, wrong: tuple[str, ...]) -> None:
    done = run(name, *wrong)
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", TINY)
def test_a_variant_differs_in_some_files_alone(name: str) -> None:
    folder = REPOSITORY / "bench" / "soak" / "faults"
    own = {path.name for path in (folder / name).iterdir()}
    for repaired in folder.glob(f"{name}-*"):
        replaced = {path.name for path in (repaired / name).iterdir()}
        assert replaced < own


@pytest.mark.parametrize("name", [*TINY, "counters-adjacent"])
def test_its_tool_names_the_fault_first(name: str) -> None:
    command = [sys.executable, "-m", "bench.soak.faults", name, "--trials", "0"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
