"""When the system refuses: the program under the runtime goes on as it would without.

Rows are those of the list of what breaks preloaded allocators: 28, system calls that a filter
refuses; 29, memory and address space that run out, errno.
"""

from __future__ import annotations

import ctypes
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.planned import compile_program, run_planned
from support.steady import COUNT, SOURCES, Steady, make_steady, outcome_of


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Steady:
    return make_steady(tmp_path_factory.mktemp("steady"))


def test_nothing_fails_to_begin_with(steady: Steady) -> None:
    """What the other tests compare with: all of the program's blocks are grouped."""
    run = steady.run()
    outcome = outcome_of(run.status, run.stdout, run.stderr)
    assert outcome.fine and outcome.refused == 0
    assert (outcome.before, outcome.after) == (COUNT, 2 * COUNT)
    assert sum(run.allocations) >= 3 * COUNT


# Rows 28 and 29: system calls that fail.


@pytest.mark.parametrize("count", [1, 1_000_000], ids=["one", "all from there on"])
@pytest.mark.parametrize("call", ["mmap", "mprotect", "madvise"])
def test_every_call_for_memory_may_fail(steady: Steady, call: str, count: int) -> None:
    """Rows 28 and 29. Each call in turn, until a run makes fewer: blocks are forwarded instead."""
    struck = []
    for at in range(1, 200):
        env = {"FAIL_CALL": call, "FAIL_AT": str(at), "FAIL_COUNT": str(count)}
        outcome = steady.outcome(library=steady.failing, env=env)
        found = re.search(r"failed (\d+) of \d+\n$", outcome.stderr)
        assert found is not None and outcome.status == 0 and outcome.refused == 0, outcome
        if found.group(1) == "0":
            assert outcome.before + outcome.after == 3 * COUNT
            break
        struck.append(outcome)
    else:
        pytest.fail("calls without end")
    assert struck
    # The first ones may take all groups away; the last one leaves at least what there was.
    assert struck[-1].before + struck[-1].after > COUNT


@pytest.mark.parametrize("error", ["EPERM", "ENOMEM", "ENOSYS"])
@pytest.mark.parametrize("calls", ["madvise", "mremap", "munmap", "mmap", "mprotect"])
def test_a_filter_may_refuse_a_system_call(steady: Steady, calls: str, error: str) -> None:
    """Row 28: a seccomp filter that comes after the start."""
    number = {"EPERM": 1, "ENOMEM": 12, "ENOSYS": 38}[error]
    outcome = steady.outcome("deny", number, calls)
    assert outcome.fine and outcome.refused == 0
    assert outcome.before == COUNT and outcome.after > 0


def test_a_filter_may_refuse_all_of_them(steady: Steady) -> None:
    """Row 28. What the groups cannot get, the next allocator gets by brk."""
    outcome = steady.outcome("deny", 1, "mprotect+mmap+munmap+madvise+mremap")
    assert outcome.fine and outcome.refused == 0
    assert outcome.before == COUNT and 0 < outcome.after < 2 * COUNT


def test_only_memory_calls_are_made_while_the_program_allocates(steady: Steady) -> None:
    """Row 28: a filter kills the process at any other system call."""
    outcome = steady.outcome("kill", env={"HALO_STATS": ""})
    assert outcome.fine and outcome.after == 2 * COUNT


# Row 29: memory and address space that run out.


def limited(kind: int, mebibytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (mebibytes << 20, mebibytes << 20))


@pytest.mark.parametrize("mebibytes", [8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 4096, 16384])
def test_the_ladder_of_address_space_from_the_start(steady: Steady, mebibytes: int) -> None:
    """Row 29. Whatever runs with three quarters of the limit runs with all of it and the runtime;
    with less, it fails as it would without."""
    kind = resource.RLIMIT_AS
    run = steady.run(limit=limited(kind, mebibytes))
    assert run.status in (0, steady.alone(limit=limited(kind, mebibytes)).status), run.stderr
    if steady.alone(limit=limited(kind, mebibytes * 3 // 4)).stdout.startswith("fine"):
        outcome = outcome_of(run.status, run.stdout, run.stderr)
        assert outcome.fine
        assert mebibytes < 1024 or outcome.before == COUNT


@pytest.mark.parametrize("mebibytes", [0, 1, 2, 4, 8, 16, 64, 256, 4096])
def test_the_ladder_of_address_space_in_the_middle_of_a_run(steady: Steady, mebibytes: int) -> None:
    """Row 29: so much more than is used already. Groups that cannot grow forward; what they have
    room for they serve."""
    outcome = steady.outcome("limit", "as", mebibytes)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.after == 2 * COUNT if mebibytes >= 8 else outcome.after > COUNT // 2


@pytest.mark.parametrize("mebibytes", [1, 64, 1024])
def test_a_limit_on_all_address_space(steady: Steady, mebibytes: int) -> None:
    """Row 29: with 1 MiB nothing new can be mapped by anyone; what is there serves on."""
    outcome = steady.outcome("cap", "as", mebibytes)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.after == 2 * COUNT if mebibytes >= 64 else outcome.after > COUNT // 2


# Rows 28 to 30: a program with a small heap under limits of its own lives as it does alone.


@pytest.fixture(scope="module")
def limits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A program that sets limits, and a plan that groups all of its objects."""
    folder = tmp_path_factory.mktemp("limits")
    program = compile_program(folder, (SOURCES / "limits.c").read_text())
    write_plan(drawing_plan([PlanGroup(False, 0)], 4096, 0, None), folder / "all.plan")
    return program, folder / "all.plan"


@pytest.mark.parametrize("what", ["", "address space", "lock", "strict"])
def test_limits_that_the_program_sets_itself(limits: tuple[Path, Path], what: str) -> None:
    lives_as_it_does_alone(*limits, what)


def test_all_memory_is_locked_where_little_may_be(limits: tuple[Path, Path]) -> None:
    """Without privileges, mlockall counts all addresses against the limit, used or not."""
    lives_as_it_does_alone(*limits, "lock", may_lock_eight_mebibytes)


def lives_as_it_does_alone(
    program: Path, plan: Path, what: str, limit: Callable[[], None] | None = None
) -> None:
    alone = subprocess.run(
        [program, what], capture_output=True, text=True, check=False, preexec_fn=limit
    )
    run = run_planned([str(program), what], plan, preexec_fn=limit)
    assert (run.status, run.stdout, run.stderr) == (alone.returncode, alone.stdout, "")


def may_lock_eight_mebibytes() -> None:
    """Also for root, who loses the capability at the next exec."""
    drop_from_bounding_set, ipc_lock = 24, 14
    ctypes.CDLL(None).prctl(drop_from_bounding_set, ipc_lock, 0, 0, 0)
    _, maximum = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    bytes_allowed = 8 << 20 if maximum == resource.RLIM_INFINITY else min(maximum, 8 << 20)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (bytes_allowed, bytes_allowed))


def test_the_ladder_of_memory_in_the_middle_of_a_run(steady: Steady) -> None:
    """Row 29: RLIMIT_DATA counts the pages that the groups open. ENOMEM where the next allocator
    has none either, and less of it the more there is."""
    count = 60000
    outcomes = [steady.outcome("limit", "data", more, count=count) for more in (0, 4, 8, 64)]
    refusals = [outcome.refused for outcome in outcomes]
    assert all(outcome.fine and outcome.before == count for outcome in outcomes)
    assert refusals[0] > 0 and refusals[-1] == 0
    assert refusals == sorted(refusals, reverse=True)


def test_groups_serve_on_where_the_next_allocator_refuses(steady: Steady) -> None:
    """Row 29: its ENOMEM does not matter for a block that a group has room for."""
    outcome = steady.outcome("refuse", library=steady.refusing)
    assert outcome.fine and outcome.refused == 0
    assert outcome.after == 2 * COUNT


def test_both_out_of_memory_is_enomem(steady: Steady) -> None:
    """Row 29: no pages for the groups, and a next allocator that says no."""
    outcome = steady.outcome("refuse", "deny", 12, "mprotect", library=steady.refusing)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.refused > 0 and outcome.after > 0
