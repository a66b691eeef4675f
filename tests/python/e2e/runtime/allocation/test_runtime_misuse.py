"""Freed memory that the program misuses: harmless, and named under the checking runtime."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.command import REPOSITORY, halo
from support.planned import RUNTIME, compile_program, run_planned

SOURCE = REPOSITORY / "tests" / "programs" / "failure" / "misuse.c"
NAMED = {
    "double": r"double free: the block of (40|48) bytes at 0x\w+ in group 0 is not in use",
    "double, another between": r"double free: the block of (40|48) bytes at 0x\w+ in group 0",
    "double, written between": r"double free: the block of (40|48) bytes at 0x\w+ in group 0",
    "inside": r"wrong free: 0x\w+ lies 8 bytes inside a block of (40|48) bytes in group 0",
    "inside, odd": r"wrong free: 0x\w+ lies 1 bytes inside a block of (40|48) bytes in group 0",
    "never allocated": r"wrong free: no block was ever allocated at 0x\w+",
    "realloc of freed": r"double free: the block of (40|48) bytes at 0x\w+ in group 0",
    "write after free": r"write after free: the freed block of (40|48) bytes at 0x\w+ in group 0",
    "overflow": r"write after free: the freed block of (40|48) bytes at 0x\w+ in group 0",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("misuse"), SOURCE.read_text())


@pytest.mark.parametrize(
    "group", [(0, False), (0, True), (1, False)], ids=["mixed", "equal", "whole"]
)
@pytest.mark.parametrize("misuse", ["", *NAMED])
def test_misuse_gives_no_block_twice_and_none_that_was_chosen(
    program: Path, tmp_path: Path, misuse: str, group: tuple[int, bool]
) -> None:
    plan = tmp_path / "pool.plan"
    write_plan(drawing_plan([PlanGroup(False, *group)], 4096, 0, None), plan)
    done = run_planned([str(program), misuse], plan, RUNTIME)
    assert (done.status, done.stdout, done.stderr) == (0, "fine\n", "")
    assert sum(done.allocations) > 4000


@pytest.mark.parametrize("with_plan", [False, True], ids=["all objects", "a plan's objects"])
@pytest.mark.parametrize("misuse", NAMED)
def test_exec_check_names_misuse_in_a_line(
    program: Path, tmp_path: Path, misuse: str, with_plan: bool
) -> None:
    plan = tmp_path / "pool.plan"
    write_plan(drawing_plan([PlanGroup(False, 0)], 4096, 0, None), plan)
    option = ["--plan", str(plan)] if with_plan else []
    done = halo("exec", "--check", *option, "--", str(program), misuse)
    assert (done.status, done.stdout) == (0, "fine\n")
    assert re.match(f"halo: {NAMED[misuse]}", done.stderr), done.stderr
    # The write is a misuse of its own.
    assert done.stderr.count("\n") == (2 if misuse == "double, written between" else 1)


def test_exec_check_is_silent_where_all_is_well(program: Path) -> None:
    done = halo("exec", "--check", "--", str(program))
    assert (done.status, done.stdout, done.stderr) == (0, "fine\n", "")


def test_exec_check_without_the_checking_runtime(program: Path, tmp_path: Path) -> None:
    done = halo("exec", "--check", "--", str(program), env={"HALO_BUILD": str(tmp_path)})
    assert done.status == 114
    assert "checking runtime is not built" in done.stderr and done.stderr.count("\n") == 1


def test_exec_needs_a_plan_unless_it_checks_all_objects(program: Path) -> None:
    for option in ([], ["--check", "--print-env"]):
        done = halo("exec", *option, "--", str(program))
        assert done.status == 111
        assert "--plan PLAN" in done.stderr
