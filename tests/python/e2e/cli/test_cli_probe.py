"""`halo probe` on programs whose answer is known, and on those that it cannot measure."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from halo.measure.probe import RANDOM, SINGLE, ProbeAnswer
from support.command import BUILD, compile_c, halo


def test_a_bundled_workload_is_probed(tmp_path: Path) -> None:
    command = [str(BUILD / "bench" / "scene"), "20000", "10", "1"]
    outcome = halo("probe", "--seconds", "5", "--json", "probe.json", "--", *command, cwd=tmp_path)
    assert outcome.status in {answer.value for answer in ProbeAnswer}, outcome.stderr
    summary = json.loads((tmp_path / "probe.json").read_text())
    assert summary["program"] == "scene"
    assert ProbeAnswer[summary["answer"].upper().replace("-", "_")].value == outcome.status
    assert set(summary["allocators"]) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert set(summary["rounds"]) == {summary["best_baseline"], RANDOM, SINGLE}
    assert all(7 <= found["trials"] <= 51 for found in summary["rounds"].values())
    *_, sentence, step = outcome.stdout.splitlines()
    assert "scene" in sentence and "placement-sensitive" in sentence
    short = outcome.status == ProbeAnswer.CANNOT_TELL.value and "LARGER-ARGS" in step
    assert step.startswith("Next: ") and shlex.join(command[: 1 if short else 4]) in step
    assert sorted(path.name for path in tmp_path.iterdir()) == ["probe.json"]


# Every list walked in the order in which it was made, beside the nodes of many others.
LISTS = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long pad[5]; };
enum { length = 1500000 };
int main(void) {
  struct node *head = 0;
  long sum = 0;
  for (long i = 0; i < length; ++i) {
    struct node *node = malloc(sizeof *node);
    node->next = head;
    node->pad[0] = i;
    head = node;
  }
  for (int round = 0; round < 12; ++round)
    for (struct node *node = head; node; node = node->next) sum += node->pad[0];
  printf("%ld\n", sum);
}
"""


def test_a_program_that_follows_pointers_cares(tmp_path: Path) -> None:
    """It may not be told in eight seconds; the next step is then a longer probe."""
    compile_c(LISTS, tmp_path / "lists")
    outcome = halo("probe", "--seconds", "8", "--", "./lists", cwd=tmp_path)
    if outcome.status == ProbeAnswer.CANNOT_TELL.value:
        assert "It is not decided whether lists is placement-sensitive" in outcome.stdout
        assert "halo probe --seconds 32 -- ./lists" in outcome.stdout
        return
    assert outcome.status == ProbeAnswer.CARES.value, outcome.stdout
    assert "halo run -- ./lists -- ./lists" in outcome.stdout


def test_a_program_that_computes_does_not_care(tmp_path: Path) -> None:
    source = """
    #include <stdio.h>
    int main(void) {
      unsigned long x = 1;
      for (long i = 0; i < 60000000; ++i) x = x * 6364136223846793005u + 1;
      printf("%lu\\n", x);
    }
    """
    compile_c(source, tmp_path / "computes")
    outcome = halo("probe", "--seconds", "8", "--", "./computes", cwd=tmp_path)
    assert outcome.status != ProbeAnswer.CARES.value, outcome.stdout


@pytest.mark.parametrize("work", ["", "for (volatile long i = 0; i < 60000000; ++i);"])
def test_a_program_that_does_not_allocate_is_named(tmp_path: Path, work: str) -> None:
    compile_c(f"int main(void) {{ {work} return 0; }}", tmp_path / "idle")
    outcome = halo("probe", "--seconds", "60", "--", "./idle", cwd=tmp_path)
    assert outcome.status == ProbeAnswer.DOES_NOT_CARE.value, outcome.stdout
    assert "it allocates no objects of up to 4096 bytes" in outcome.stdout
    assert outcome.stdout.endswith("Next: ./idle\n")


@pytest.mark.parametrize("end", ["exit", "_exit"])
def test_objects_of_a_child_are_not_overlooked(end: str, tmp_path: Path) -> None:
    """The runtime counts in each process, and not all of them end so that it can report."""
    source = f"""
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    struct node {{ struct node *next; long pad[5]; }};
    int main(void) {{
      if (fork() == 0) {{
        struct node *head = 0;
        long sum = 0;
        for (long i = 0; i < 300000; ++i) {{
          struct node *node = malloc(sizeof *node);
          node->next = head;
          node->pad[0] = i;
          head = node;
        }}
        for (struct node *node = head; node; node = node->next) sum += node->pad[0];
        printf("%ld\\n", sum);
        fflush(stdout);
        {end}(0);
      }}
      wait(0);
    }}
    """
    compile_c(source, tmp_path / "parent")
    command = ["probe", "--seconds", "1", "--json", "probe.json", "--", "./parent"]
    outcome = halo(*command, cwd=tmp_path)
    assert outcome.status in {answer.value for answer in ProbeAnswer}, outcome.stderr
    assert "bytes" not in outcome.stdout
    assert json.loads((tmp_path / "probe.json").read_text())["small_bytes"] is None


def test_a_short_program_is_named(tmp_path: Path) -> None:
    source = """
    #include <stdlib.h>
    int main(void) { for (int i = 0; i < 2000; ++i) *(volatile char *)malloc(40) = 1; }
    """
    compile_c(source, tmp_path / "short")
    outcome = halo("probe", "--seconds", "2", "--", "./short", cwd=tmp_path)
    assert "too short to measure" in outcome.stdout
    _, sentence, step = outcome.stdout.rsplit("\n", 3)[:3]
    assert "--seconds" not in step
    is_unknown = outcome.status == ProbeAnswer.CANNOT_TELL.value
    assert is_unknown == ("mostly the start of the process" in sentence)
    assert is_unknown == step.endswith("LARGER-ARGS")


def test_an_output_that_differs_is_a_failure(tmp_path: Path) -> None:
    source = """
    #include <stdio.h>
    #include <stdlib.h>
    int main(void) { puts(getenv("HALO_PLAN") ? "planned" : "plain"); }
    """
    compile_c(source, tmp_path / "shy")
    outcome = halo("probe", "--seconds", "1", "--", "./shy", cwd=tmp_path)
    assert outcome.status == 119
    assert "another standard output" in outcome.stderr.splitlines()[-1]
    assert list(tmp_path.glob("results/shy-*/different.stdout"))


def test_a_program_that_the_runtime_does_not_reach(tmp_path: Path) -> None:
    """It executes itself again without the variables, as some wrappers do."""
    source = """
    #include <stdlib.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
      char *none[] = {0};
      if (getenv("HALO_PLAN")) execve("/proc/self/exe", argv, none);
      return 0;
    }
    """
    compile_c(source, tmp_path / "wrapper")
    outcome = halo("probe", "--seconds", "1", "--", "./wrapper", cwd=tmp_path)
    assert outcome.status == 113
    assert "halo doctor --run" in outcome.stderr.splitlines()[-1]
