"""The right group, whatever the program does with its stack and its modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.record.profile import read_profile
from support.planned import CHECKING_RUNTIME, compile_program, make_plan, run_planned
from support.programs.sources import EXCEPTIONS, HOST, PLUGIN

# Three kinds through one wrapper; 7, 11 and 13 times as many as asked for. The caller's caller
# decides the group, so the walk has to look past the wrapper.
THREE_KINDS = r"""
#include <stdio.h>
#include <stdlib.h>
static void *get(size_t n) {
  char *p = malloc(n);
  for (size_t i = 0; i < n; ++i) p[i] = 1;
  return p;
}
static void *a(void) { return get(24); }
static void *b(int depth) { return depth ? b(depth - 1) : get(24); }
static void *c(void) { return get(40); }
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 7; ++k) sum += *(char *)a();
    for (int k = 0; k < 11; ++k) sum += *(char *)b(k % 5);
    for (int k = 0; k < 13; ++k) sum += *(char *)c();
  }
  printf("%ld\n", sum);
}
"""


def groups_of_each_context(folder: Path, program: Path, *arguments: str) -> Path:
    """A plan with one group for each recorded context, hottest first."""
    make_plan(folder, [str(program), *arguments], "none")
    profile = folder / "prog.profile"
    contexts = [at for at, c in enumerate(read_profile(profile).contexts) if c.accesses > 0]
    groups = folder / "groups.json"
    groups.write_text('{"groups": [' + ",".join(f"[{at}]" for at in contexts) + "]}")
    return make_plan(folder, [str(program), *arguments], "from-file", "--file", str(groups))


@pytest.mark.parametrize("flags", [[], ["-no-pie"], ["-s"], ["-O0"]], ids=str)
def test_counts_are_exact(tmp_path: Path, flags: list[str]) -> None:
    program = compile_program(tmp_path, THREE_KINDS, *flags)
    plan = groups_of_each_context(tmp_path, program, "3")
    run = run_planned([str(program), "100"], plan)
    assert run.stats["active"], run.stats
    assert run.stdout == "3100\n"
    # b's depths reduce to two contexts: called by main, and by itself.
    assert sorted(count for count in run.allocations if count >= 100) == [300, 700, 800, 1300]


def test_aslr_does_not_matter(tmp_path: Path) -> None:
    program = compile_program(tmp_path, THREE_KINDS)
    plan = groups_of_each_context(tmp_path, program, "3")
    counts = {tuple(run_planned([str(program), "10"], plan).allocations) for _ in range(20)}
    assert len(counts) == 1


def test_exceptions_and_longjmp_pass_through_identified_frames(tmp_path: Path) -> None:
    program = compile_program(tmp_path, EXCEPTIONS)
    plan = groups_of_each_context(tmp_path, program, "24")
    plain = subprocess.run([program, "1200"], capture_output=True, text=True, check=True)
    run = run_planned([str(program), "1200"], plan)
    assert (run.status, run.stdout) == (0, plain.stdout)
    assert run.allocations.count(1200) == 2  # make, called by throwing and by jumping


def test_modules_opened_after_the_start_are_recognised(tmp_path: Path) -> None:
    plugin = compile_program(tmp_path, PLUGIN, "-shared", "-fPIC", name="plugin.so")
    host = compile_program(tmp_path, HOST)
    plan = groups_of_each_context(tmp_path, host, "10", "1", str(plugin))
    run = run_planned([str(host), "1000", "1", str(plugin)], plan)
    assert (run.status, run.stdout) == (0, "done\n")
    # The program's first allocation after dlopen triggers the update of modules; that one is late.
    assert 999 <= max(run.allocations) <= 1000


def test_a_module_that_is_replaced_at_its_address_is_not_taken_for_it(tmp_path: Path) -> None:
    first = compile_program(tmp_path, PLUGIN, "-shared", "-fPIC", name="first.so")
    other_source = PLUGIN.replace(
        "{ char *p = malloc(n);", '{ char pad[200]; asm(""::"r"(pad)); char *p = malloc(n);'
    )
    second = compile_program(tmp_path, other_source, "-shared", "-fPIC", name="second.so")
    host = compile_program(tmp_path, HOST)
    plan = groups_of_each_context(tmp_path, host, "10", "1", str(first))
    run = run_planned([str(host), "100", "50", str(first), str(second)], plan)
    assert (run.status, run.stdout) == (0, "done\n")
    # Its own 100 in each of 50 rounds; the first after every dlopen may be late.
    assert any(50 * 99 <= count <= 50 * 100 for count in run.allocations)


def test_a_bare_library_name_is_searched_as_without_us(tmp_path: Path) -> None:
    plugin = compile_program(tmp_path, PLUGIN, "-shared", "-fPIC", name="libplug.so")
    host = compile_program(tmp_path, HOST, "-Wl,-rpath,$ORIGIN")
    plan = groups_of_each_context(tmp_path, host, "10", "1", plugin.name)
    run = run_planned([str(host), "100", "1", plugin.name], plan)
    assert (run.status, run.stdout) == (0, "done\n")
    assert max(run.allocations) >= 99


def test_frames_without_a_constant_distance_are_walked_by_the_frame_pointer(tmp_path: Path) -> None:
    source = r"""
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
static void *get(size_t n) { char *p = malloc(n); p[0] = 1; return p; }
static long sized(int n, void *(*make)(size_t)) {
  char *room = alloca(n);
  room[0] = room[n - 1] = 1;
  char *p = make(24);
  long sum = p[0] + room[n - 1];
  return sum;
}
static long left(int n) { return sized(16 + n * 8, get) + 1; }
static long right(int n) { return sized(640 + n * 16, get) + 2; }
int main(int argc, char **argv) {
  long sum = 0;
  for (int i = 0; i < atoi(argv[1]); ++i) sum += left(i % 50) + right(i % 30) + right(i % 7);
  printf("%ld\n", sum);
}
"""
    program = compile_program(tmp_path, source)
    plan = groups_of_each_context(tmp_path, program, "20")
    run = run_planned([str(program), "500"], plan, CHECKING_RUNTIME)
    assert run.stats["differences"] == 0
    assert sorted(count for count in run.allocations if count >= 100) == [500, 500, 500]


@pytest.mark.parametrize(
    "command",
    [
        ["jq", "-n", "[range(20000) | {a: ., b: tostring}] | group_by(.a % 10) | map(length)"],
        ["/usr/bin/python3", "-c", "print(sum(len(str(i)) for i in range(40000)))"],
        ["xsltproc", "--version"],
    ],
    ids=["jq", "python3", "xsltproc"],
)
def test_every_walk_agrees_with_libunwind(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    plan = make_plan(tmp_path, command, "halo-hot")
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    run = run_planned(command, plan, CHECKING_RUNTIME)
    assert (run.status, run.stdout) == (0, plain.stdout)
    assert run.stats["differences"] == 0
    assert run.stats["checked_walks"] > 100
