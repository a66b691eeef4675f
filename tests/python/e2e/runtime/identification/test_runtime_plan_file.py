"""Whatever HALO_PLAN names, and whatever becomes of it: the program goes on, told in a sentence."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from halo.plan.model import PlanGroup, Spans
from support.planned import RUNTIME, run_planned
from support.steady import COUNT, Steady, changed, make_steady, outcome_of


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Steady:
    return make_steady(tmp_path_factory.mktemp("steady"))


def run_with_plan(steady: Steady, plan: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [steady.program, "3000"],
        env={**os.environ, "LD_PRELOAD": str(RUNTIME), "HALO_PLAN": str(plan)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        preexec_fn=without_superuser_reading,
    )


def without_superuser_reading() -> None:
    """Lets file modes count for root as well, from the next exec on."""
    drop_from_bounding_set = 24
    dac_override, dac_read_search = 1, 2
    for capability in (dac_override, dac_read_search):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def bad_directory(path: Path) -> None:
    path.mkdir()


def bad_fifo(path: Path) -> None:
    os.mkfifo(path)


def bad_mode(path: Path) -> None:
    path.write_bytes(b"HALOPLAN")
    path.chmod(0)


def bad_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bad_loop(path: Path) -> None:
    path.symlink_to(path)


def bad_process_file(path: Path) -> None:
    path.symlink_to("/proc/self/maps")


def bad_size(path: Path) -> None:
    path.write_bytes(b"HALOPLAN\1\0\0\0")
    os.truncate(path, 1 << 31)


def bad_contents(path: Path) -> None:
    path.touch()
    os.truncate(path, 400 << 20)


def bad_counts(path: Path) -> None:
    """A header that promises all of a large file, and counts that do not come to that."""
    size = 400 << 20
    path.write_bytes(struct.pack("<8sIIQIIIIIIIIQ", b"HALOPLAN", 1, 0, size, *[1] * 8, 0))
    os.truncate(path, size)


def bad_rules(path: Path) -> None:
    """A plan of version 5 with a rule for hints, by which a call site's objects are placed."""
    sections = bytes(40) + bytes(32) + bytes(32) + bytes(24) + bytes(8)
    size = 64 + 16 + len(sections)
    head = struct.pack("<8sIIQIIIIIIIIQ", b"HALOPLAN", 5, 0, size, 1, 0, 1, 4096, *[0] * 5)
    path.write_bytes(head + struct.pack("<IIII", 1, 1, 1, 0) + sections)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (bad_directory, "the plan is not a file"),
        (bad_fifo, "the plan is not a file"),
        (bad_device, "the plan is not a file"),
        (bad_mode, "the plan cannot be opened"),
        (bad_loop, "the plan cannot be opened"),
        (lambda path: None, "the plan cannot be opened"),
        (bad_process_file, "the plan is empty"),
        (bad_size, "the plan"),
        (bad_contents, "the file is not a plan"),
        (bad_counts, "the plan's counts do not match its size"),
        (bad_rules, "the plan has rules for hints, which this runtime does not serve"),
    ],
    ids=[
        "directory",
        "fifo",
        "device",
        "unreadable",
        "loop",
        "missing",
        "process file",
        "huge",
        "large and no plan",
        "large with wrong counts",
        "rules for hints",
    ],
)
def test_what_is_not_a_plan_costs_one_sentence(
    steady: Steady, tmp_path: Path, make: Callable[[Path], None], sentence: str
) -> None:
    """It costs neither time nor memory: no wait for a FIFO's writer, no read of two gigabytes."""
    path = tmp_path / "odd.plan"
    make(path)
    done = run_with_plan(steady, path)
    outcome = outcome_of(done.returncode, done.stdout, done.stderr)
    assert outcome.status == 0 and outcome.before == 0
    assert outcome.stderr.startswith(f"halo: {sentence}") and outcome.stderr.count("\n") == 1
    assert 0 < outcome.peak < 64 << 10


def test_a_plan_may_vanish_while_it_is_used(steady: Steady, tmp_path: Path) -> None:
    """Modules that come later are looked up in what was read at the start."""
    plan = changed(steady, tmp_path, lambda plan: plan)
    outcome = steady.outcome("unlink", "load", plan=plan)
    assert not plan.exists()
    assert outcome.fine and outcome.after == 2 * COUNT


def test_a_plan_may_be_replaced_while_it_is_used(steady: Steady, tmp_path: Path) -> None:
    plan = changed(steady, tmp_path, lambda plan: plan)
    other = tmp_path / "other.plan"
    other.write_bytes(b"no plan at all")
    outcome = steady.outcome("replace", other, "load", plan=plan)
    assert plan.read_bytes() == b"no plan at all"
    assert outcome.fine and outcome.after == 2 * COUNT


def in_another_folder(steady: Steady, folder: Path, plan: str) -> subprocess.CompletedProcess[str]:
    """Runs the program as the child of a shell that has changed its folder; all are under halo."""
    (folder / "below").mkdir()
    return subprocess.run(
        ["/bin/sh", "-c", 'cd below && "$1" 3000 && "$1" 3000', "sh", steady.program],
        cwd=folder,
        env={**os.environ, "LD_PRELOAD": str(RUNTIME), "HALO_PLAN": plan},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_a_relative_path_leads_children_to_the_same_plan(steady: Steady, tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_bytes(steady.plan.read_bytes())
    done = in_another_folder(steady, tmp_path, "a.plan")
    assert done.returncode == 0 and done.stderr == ""
    outcomes = [outcome_of(0, line + "\n", "") for line in done.stdout.splitlines()]
    assert [outcome.before for outcome in outcomes] == [3000, 3000]


@pytest.mark.parametrize("plan", ["mistyped.plan", "/nowhere/mistyped.plan"])
def test_a_mistyped_path_is_said_once_for_all_children(
    steady: Steady, tmp_path: Path, plan: str
) -> None:
    done = in_another_folder(steady, tmp_path, plan)
    assert done.returncode == 0
    assert done.stderr.startswith("halo: the plan cannot be opened")
    assert done.stderr.count("\n") == 1
    outcomes = [outcome_of(0, line + "\n", "") for line in done.stdout.splitlines()]
    assert [outcome.before for outcome in outcomes] == [0, 0]


def test_the_core_refuses_a_plan_that_needs_more(steady: Steady, tmp_path: Path) -> None:
    """Its child, of a plan that is refused, says nothing again."""
    plan = changed(steady, tmp_path, lambda plan: replace(plan, groups=with_spans(plan.groups)))
    done = in_another_folder(steady, tmp_path, str(plan))
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("halo: the plan needs libhalo-extra.so (")
    outcomes = [outcome_of(0, line + "\n", "") for line in done.stdout.splitlines()]
    assert [outcome.before for outcome in outcomes] == [0, 0]
    served = run_planned([str(steady.program), "3000"], plan)
    assert outcome_of(served.status, served.stdout, served.stderr).before == 3000


def with_spans(groups: tuple[PlanGroup, ...]) -> tuple[PlanGroup, ...]:
    return tuple(group._replace(spans=Spans(0, False, 0)) for group in groups)
