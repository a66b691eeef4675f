"""What children of a program under a plan inherit, and the documented ways to keep it from them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.planned import RUNTIME, compile_program, make_plan, run_planned

# Makes a hundred small objects, then starts the program that its arguments name and waits for it;
# with FORGET set, it takes the runtime out of the environment first.
PARENT = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (getenv("FORGET")) unsetenv("LD_PRELOAD");
  char *mine[100];
  for (int i = 0; i < 100; ++i) { mine[i] = malloc(24); mine[i][0] = i; }
  for (int i = 0; i < 100; ++i) free(mine[i]);
  if (argc < 2) return 0;
  pid_t child = fork();
  if (child == 0) { execvp(argv[1], argv + 1); _exit(99); }
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
"""

# Says whether the runtime is mapped.
CHILD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  char line[512], *volatile p = malloc(24);
  int inside = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) inside |= strstr(line, "libhalo.so") != NULL;
  free(p);
  puts(inside ? "under the runtime" : "on its own");
  return 0;
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with parent, child, and a plan for the parent."""
    folder = tmp_path_factory.mktemp("built")
    parent = compile_program(folder, PARENT)
    compile_program(folder, CHILD, name="child")
    make_plan(folder, [str(parent)], "dense")
    return folder


def test_a_child_of_another_binary_reserves_nothing(built: Path) -> None:
    run = run_planned([str(built / "prog"), str(built / "child")], built / "prog.plan")
    assert (run.status, run.stdout) == (0, "under the runtime\n")
    assert sum(run.allocations) >= 100
    alone = run_planned([str(built / "child")], built / "prog.plan")
    assert not alone.stats["active"] and alone.stats["resident_bytes"] == 0


def test_env_takes_the_runtime_from_a_child(built: Path) -> None:
    child = ["env", "-u", "LD_PRELOAD", "-u", "HALO_PLAN", str(built / "child")]
    run = run_planned([str(built / "prog"), *child], built / "prog.plan")
    assert (run.status, run.stdout) == (0, "on its own\n")
    assert sum(run.allocations) >= 100


def test_a_program_may_take_the_runtime_from_its_children(built: Path) -> None:
    command = [str(built / "prog"), str(built / "child")]
    run = run_planned(command, built / "prog.plan", env={"FORGET": "1"})
    assert (run.status, run.stdout) == (0, "on its own\n")
    assert sum(run.allocations) >= 100


def test_a_script_sets_the_variables_for_the_program_alone(built: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    stats = tmp_path / "prog.stats"
    script.write_text(
        f"#!/bin/sh\n{built}/child\nexec env LD_PRELOAD={RUNTIME}"
        f' HALO_PLAN={built}/prog.plan HALO_STATS={stats} {built}/prog "$@"\n'
    )
    script.chmod(0o755)
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([script], env=plain, capture_output=True, text=True, check=True)
    assert done.stdout == "on its own\n"
    assert '"active": true' in stats.read_text()


def test_statistics_of_a_family(built: Path, tmp_path: Path) -> None:
    """With `%p` in the name, each process has a file of its own."""
    run_planned(
        [str(built / "prog"), str(built / "child")],
        built / "prog.plan",
        env={"HALO_STATS": str(tmp_path / "%p.stats")},
    )
    found = sorted(path.read_text()[:20] for path in tmp_path.glob("*.stats"))
    assert [text.startswith('{"active": true') for text in found] == [False, True]


def test_a_child_linked_with_musl_needs_the_variable_taken_away(
    built: Path, tmp_path: Path
) -> None:
    """The documented limit: musl's loader gives up where glibc's would go on."""
    child = tmp_path / "musl"
    command = ["musl-gcc", "-x", "c", "-", "-o", str(child)]
    subprocess.run(command, input=CHILD, text=True, check=True)
    parent = str(built / "prog")
    run = run_planned([parent, str(child)], built / "prog.plan")
    assert (run.status, run.stdout) == (127, "")
    freed = run_planned([parent, "env", "-u", "LD_PRELOAD", str(child)], built / "prog.plan")
    assert (freed.status, freed.stdout) == (0, "on its own\n")
