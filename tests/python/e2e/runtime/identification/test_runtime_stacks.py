"""Walks on stacks of every kind, and what unwinds or runs on them besides us.

Rows are those of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from halo.plan import read_plan, write_plan
from halo.plan.layout import RULE_CONSTANT
from support.planned import compile_program, make_plan, run_planned
from support.programs.life import SOURCES, library, plan_of_each_context, program, run_life


@pytest.mark.parametrize(
    ("trained", "output"),
    [
        ("ordinary", "8000 4000 6000 of 8000 4000 14000\n"),
        ("edge", "8000 4000 14000 of 8000 4000 14000\n"),
    ],
)
def test_walks_end_at_the_edge_of_a_stack(tmp_path: Path, trained: str, output: str) -> None:
    """Row 32: the last return address of a coroutine's stack is the last word below a guard page,
    reached by constant distances, by the frame pointer, and through recursion."""
    path = str(program("edges"))
    plan = plan_of_each_context(tmp_path, [path, trained])
    run = run_planned([path, "edge"], plan)
    assert (run.status, run.stdout) == (0, output)
    assert sum(run.allocations) >= 18000


def test_coroutines_and_signal_stacks() -> None:
    """Row 32: ucontext, a signal's own stack, and a switch by hand to a stack of one page."""
    run = run_life(program("coroutines"))
    assert (run.status, run.stdout) == (0, "4300 of 4300 grouped\n")
    assert sum(run.allocations) == 4300


def test_the_smallest_stacks_suffice() -> None:
    """Row 32: threads with PTHREAD_STACK_MIN bytes of stack."""
    run = run_life(program("tiny_stacks"))
    assert (run.status, run.stdout) == (0, f"{16 * 20 * 300} of {16 * 20 * 300} grouped\n")
    assert run.allocations[2] == 16 * 20 * 300


@pytest.mark.parametrize(
    ("options", "bare"),
    [((), [230]), (("--option", "trust_recorded=true"), [85, 145])],
    ids=["by records", "by distances"],
)
def test_frames_that_are_hard_to_pass(
    tmp_path: Path, options: tuple[str, ...], bare: list[int]
) -> None:
    """Row 32: assembly without call-frame records ends the walk, unless the recorded distances are
    trusted; data in rbp between two frames is not a frame pointer."""
    path = str(program("frames"))
    plan = plan_of_each_context(tmp_path, [path, "1"], *options)
    plain = subprocess.run([path, "5"], capture_output=True, text=True, check=True)
    run = run_planned([path, "5"], plan)
    assert (run.status, run.stdout) == (0, plain.stdout)
    assert sorted(count for count in run.allocations if count >= 50) == sorted([*bare, 205, 265])


def test_values_in_every_return_register_arrive() -> None:
    """Row 35."""
    run = run_life(program("registers"))
    assert (run.status, run.stdout) == (0, "0 wrong, 4800 grouped\n")
    assert run.allocations[1] == 4800


def test_a_profiler_unwinds_through_every_instruction_of_ours() -> None:
    """Rows 31 and 36: libgcc's backtrace from a signal handler, wherever in the runtime we are."""
    run = run_life(program("unwinding"))
    assert (run.status, run.stdout, run.stderr) == (0, "unwound, lost 0\n", "")
    assert min(run.allocations[:2]) > 0


def test_code_made_at_run_time_calls_planned_sites() -> None:
    """Row 38: LuaJIT's machine code, and its callbacks from C, above planned frames."""
    run = run_life("luajit", str(SOURCES / "jit.lua"), str(library("sites")), "20000")
    assert run.status == 0, run.stderr
    rounds, called, is_sorted = run.stdout.split()
    assert (rounds, is_sorted) == ("20000", "true")
    assert run.allocations == [20000, 20000 + int(called), 0]


def test_node_runs_under_a_plan_of_its_own(tmp_path: Path) -> None:
    """Row 38: V8's threads, code and garbage collector; walks of dozens of frames."""
    script = str(SOURCES / "jit.js")
    plan = make_plan(tmp_path, ["node", script, "1"], "halo-hot")
    plain = subprocess.run(["node", script, "30000"], capture_output=True, text=True, check=True)
    run = run_planned(["node", script, "30000"], plan)
    assert (run.status, run.stdout) == (0, plain.stdout)
    deep = sum(run.stats["walks_by_steps"][10:])
    assert sum(run.allocations) > 1000 and deep > 100


LEAVING = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void* wrapped(void) { char* p = malloc(24); p[0] = 1; return p; }
static void* outer(void) { char* p = wrapped(); p[1] = 1; return p; }
static void* one(void) { char* p = outer(); p[2] = 1; return p; }
static void* two(void) { char* p = outer(); p[3] = 1; return p; }
static void* work(void* unused) {
  for (int i = 0; i < 500; ++i) { free(one()); free(two()); }
  return unused;
}
int main(void) {
  pthread_t thread;
  work(NULL);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
"""


@pytest.mark.parametrize("step", [1 << 14, 1 << 20])
def test_a_plan_whose_steps_are_wrong_leaves_no_stack_of_a_thread(
    tmp_path: Path, step: int
) -> None:
    """Row 32: the first thread's stack, and another's."""
    path = str(compile_program(tmp_path, LEAVING, "-pthread"))
    right = plan_of_each_context(tmp_path, [path])
    assert sum(run_planned([path], right).allocations) >= 2000
    plan = read_plan(right)
    states = [
        state._replace(step=step) if state.rule == RULE_CONSTANT else state for state in plan.states
    ]
    assert any(state.rule == RULE_CONSTANT for state in plan.states)
    write_plan(dataclasses.replace(plan, states=tuple(states)), tmp_path / "wrong.plan")
    run = run_planned([path], tmp_path / "wrong.plan")
    assert (run.status, run.stdout, run.stderr) == (0, "done\n", "")
