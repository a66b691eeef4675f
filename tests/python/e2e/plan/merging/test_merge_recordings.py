"""Recordings of a real program on two inputs and on two machines, merged, planned and run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from halo.record.profile import Profile, read_profile
from support.command import compile_c, halo

SHAPES = r"""
#include <stdlib.h>
__attribute__((noinline)) void *shape_make(size_t n) { char *p = malloc(n); p[0] = 1; return p; }
"""
# Each word on the command line fills a list at a call site of its own, and the walks follow.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *shape_make(size_t);
struct node { struct node *next; long value; };
static struct node *put(struct node *next, struct node *node, long value) {
  node->next = next;
  node->value = value;
  return node;
}
#define MAKER(name) \
  __attribute__((noinline)) static struct node *name(struct node *next, long value) { \
    return put(next, malloc(sizeof(struct node)), value); \
  }
MAKER(red) MAKER(blue) MAKER(grey)
static struct node *shape(struct node *next, long value) {
  return put(next, shape_make(sizeof(struct node)), value);
}
int main(int argc, char **argv) {
  long count = atol(argv[2]), sum = 0;
  struct node *list = 0, *others = 0, *shapes = 0;
  for (long i = 0; i < count; ++i) {
    list = !strcmp(argv[1], "red") ? red(list, i) : blue(list, i);
    others = grey(others, i);
    shapes = shape(shapes, i);
  }
  for (int round = 0; round < 30; ++round) {
    for (struct node *node = list; node; node = node->next) sum += node->value;
    for (struct node *node = shapes; node; node = node->next) sum += node->value;
  }
  printf("%ld\n", sum + others->value);
  return 0;
}
"""


def build(folder: Path, *flags: str) -> Path:
    """The program with its library, found beside it or by LD_LIBRARY_PATH."""
    folder.mkdir()
    compile_c(SHAPES, folder / "libshapes.so", "-shared", "-fPIC", *flags)
    links = (f"-L{folder}", "-lshapes", "-Wl,-rpath,$ORIGIN")
    return compile_c(PROGRAM, folder / "shapes", *links)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, and red.profile and blue.profile of two inputs."""
    folder = tmp_path_factory.mktemp("merge")
    build(folder / "bin")
    for name in ("red", "blue"):
        outcome = halo(
            *("record", "-o", f"{name}.profile", "--", "bin/shapes", name, "2000"), cwd=folder
        )
        assert outcome.status == 0, outcome.stderr
    return folder


def merge(folder: Path, *names: str, more: tuple[str, ...] = ()) -> str:
    outcome = halo("merge", *names, "-o", "merged.profile", *more, cwd=folder)
    assert (outcome.status, outcome.stderr) == (0, ""), outcome.stderr
    return outcome.stdout


def grouped(folder: Path, profile: str, word: str) -> int:
    """Allocations in groups, under a plan from that profile and with that input."""
    plan = folder / f"{profile}.plan"
    planned = halo("plan", profile, "-o", str(plan), cwd=folder)
    assert planned.status == 0, planned.stderr
    stats = folder / "stats"
    outcome = halo(
        *("exec", "--plan", str(plan), "--", "bin/shapes", word, "2000"),
        cwd=folder,
        env={"HALO_STATS": str(stats)},
    )
    assert (outcome.status, outcome.stderr) == (0, "")
    report = json.loads(stats.read_text())
    assert report["active"] is True
    return sum(group["allocations"] for group in report["groups"])


def test_a_plan_from_two_inputs_serves_the_contexts_of_both(folder: Path) -> None:
    shown = merge(folder, "red.profile", "blue.profile", more=("--score",))
    assert "unlike each other" in shown
    own = {word: grouped(folder, f"{word}.profile", word) for word in ("red", "blue")}
    assert min(own.values()) >= 4000
    assert grouped(folder, "red.profile", "blue") <= own["blue"] - 2000
    for word, count in own.items():
        assert grouped(folder, "merged.profile", word) >= count


def test_a_merged_profile_is_read_wherever_profiles_are(folder: Path) -> None:
    merge(folder, "red.profile", "blue.profile")
    for command in (
        ("eval", "coverage", "red.profile", "merged.profile"),
        ("plan", "merged.profile", "--for", "bin/shapes"),
        ("plan", "merged.profile", "--strategy", "dense", "-o", "d.plan"),
        ("plot", "affinity-graph", "merged.profile", "d.plan", "-o", "graph.svg"),
    ):
        outcome = halo(*command, cwd=folder)
        assert outcome.status == 0, outcome.stderr
    outcome = halo("study", "conflicts", "merged.profile", cwd=folder)
    assert outcome.status == 117 and "has no record of conflicts" in outcome.stderr


def test_conflicts_of_two_inputs_are_merged(folder: Path) -> None:
    for name in ("red", "blue"):
        recorded = halo(
            *("record", "--conflicts", "-o", f"{name}.sets", "--", "bin/shapes", name, "500"),
            cwd=folder,
        )
        assert recorded.status == 0, recorded.stderr
    assert "Without" not in merge(folder, "red.sets", "blue.sets")
    outcome = halo("study", "conflicts", "merged.profile", cwd=folder)
    assert outcome.status == 0, outcome.stderr
    assert "has" in outcome.stdout and "misses" in outcome.stdout


def as_on_another_machine(folder: Path, program: Path, **libraries: Path) -> None:
    """Records there.profile: other paths, one processor, no ASLR, another environment."""
    program = program.absolute()
    outcome = halo(
        *("record", "-o", "there.profile", "--", str(program), "red", "2000"),
        cwd=folder,
        env={"LD_LIBRARY_PATH": str(libraries.get("libraries", "")), "HOSTNAME": "there"},
        before=("taskset", "-c", "0", "setarch", "-R"),
    )
    assert outcome.status == 0, outcome.stderr


def contexts_by_accesses(profile: Profile) -> list[int]:
    return [context.accesses for context in profile.contexts if context.accesses > 1000]


def test_recordings_of_two_machines_are_merged_by_their_build(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "elsewhere"
    shutil.copytree(folder / "bin", there)
    as_on_another_machine(folder, there / "shapes")
    shown = merge(folder, "red.profile", "there.profile", more=("--score",))
    assert "The inputs agree" in shown and "unlike" not in shown
    here = read_profile(folder / "red.profile")
    both = read_profile(folder / "merged.profile")
    assert {it.path for it in here.modules} != {
        it.path for it in read_profile(folder / "there.profile").modules
    }
    assert len(both.contexts) == len(here.contexts)
    assert contexts_by_accesses(both) == [2 * it for it in contexts_by_accesses(here)]
    shutil.rmtree(there)
    merge(folder, "red.profile", "there.profile")
    assert grouped(folder, "merged.profile", "red") >= 4000


def test_contexts_through_another_build_of_a_library_stay_apart(
    folder: Path, tmp_path: Path
) -> None:
    there = tmp_path / "elsewhere"
    shutil.copytree(folder / "bin", there)
    compile_c(SHAPES + "int more;", there / "libshapes.so", "-shared", "-fPIC", "-O2")
    as_on_another_machine(folder, there / "shapes")
    shown = merge(folder, "red.profile", "there.profile")
    assert "unlike builds of libshapes: 2 contexts through it" in shown
    both = read_profile(folder / "merged.profile")
    assert len(both.contexts) == len(read_profile(folder / "red.profile").contexts) + 1


def test_another_build_of_the_program_is_refused(folder: Path, tmp_path: Path) -> None:
    there = build(tmp_path / "elsewhere")
    compile_c(PROGRAM + "int more;", there, f"-L{there.parent}", "-lshapes", "-Wl,-rpath,$ORIGIN")
    as_on_another_machine(folder, there)
    before = sorted(folder.iterdir())
    outcome = halo("merge", "red.profile", "there.profile", "-o", "never", cwd=folder)
    assert outcome.status == 117 and outcome.stdout == ""
    assert outcome.stderr == (
        "halo: red.profile and there.profile are of different builds of shapes; record both with"
        " one build.\n"
    )
    assert sorted(folder.iterdir()) == before
