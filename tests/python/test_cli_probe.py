"""`halo probe` answers one question, by measuring, and says what to do next."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from command import BUILD, compile_c, halo

from halo.allocators import Allocator
from halo.target import Target
from halo.trials.job import Job, Sample
from halo.trials.probe_report import conclusion, next_step, show_probe, summarize_probe
from halo.trials.probing import RANDOM, SINGLE, Answer, Probe, judge, rounds_within
from halo.trials.statistics import Ratio

JOB = Job(Target(Path("/bin/prog"), "prog"), ("a b",))


def samples(*times: float) -> list[Sample]:
    return [Sample(time, time, 0.0, 1000) for time in times * 5]


def measured(best: float, drawn: float, single: float) -> Probe:
    allocator = Allocator("jemalloc", Path("/lib/libjemalloc.so.2"))
    rounds = {"jemalloc": samples(best), RANDOM: samples(drawn), SINGLE: samples(single)}
    return Probe(allocator, {"jemalloc": samples(best), "glibc": samples(9.0)}, rounds)


@pytest.mark.parametrize(
    ("between", "changes", "answer"),
    [
        ((1.05, 1.20), [(1.1, 1.3), (1.0, 1.1)], Answer.CARES),
        ((0.80, 0.97), [(1.1, 1.3), (1.0, 1.1)], Answer.CARES),
        ((0.99, 1.01), [(0.8, 0.9), (0.8, 0.9)], Answer.CARES),  # both gain: density
        ((0.99, 1.01), [(0.99, 1.01), (0.99, 1.01)], Answer.DOES_NOT_CARE),
        ((0.99, 1.01), [(1.10, 1.20), (1.1, 1.2)], Answer.DOES_NOT_CARE),  # the allocator's price
        ((0.90, 1.10), [(0.99, 1.01), (1.0, 1.0)], Answer.CANNOT_TELL),
        ((1.01, 1.03), [(0.99, 1.01), (1.0, 1.0)], Answer.CANNOT_TELL),
        ((0.99, 1.01), [(0.90, 1.10), (1.0, 1.0)], Answer.CANNOT_TELL),
    ],
)
def test_the_answer_is_sure_or_not_given(
    between: tuple[float, float], changes: list[tuple[float, float]], answer: Answer
) -> None:
    def middle(pair: tuple[float, float]) -> Ratio:
        return Ratio(sum(pair) / 2, *pair)

    assert judge(middle(between), [middle(change) for change in changes]) is answer


def test_conclusions_and_next_steps_are_plain() -> None:
    cares = measured(1.0, 1.5, 1.1)
    assert "cares where its objects lie: 4 random pools instead of one" in conclusion(cares, "prog")
    assert "+36.4 %" in conclusion(cares, "prog")
    assert next_step(cares, JOB, 60, "halo") == "halo run -- prog SMALL-ARGS -- prog 'a b'"
    gains = measured(1.0, 0.8, 0.7)
    assert "1 pool alone changes its time by -30.0 %" in conclusion(gains, "prog")
    indifferent = measured(1.0, 1.0, 1.0)
    assert "does not care" in conclusion(indifferent, "prog")
    plain = next_step(indifferent, JOB, 60, "halo")
    assert plain == "env LD_PRELOAD=/lib/libjemalloc.so.2 prog 'a b'"
    unsure = Probe(cares.best, cares.quick, {**indifferent.rounds, RANDOM: samples(0.5, 1.0, 1.5)})
    assert "cannot be told" in conclusion(unsure, "prog")
    assert next_step(unsure, JOB, 60, "halo") == "halo probe --seconds 240 -- prog 'a b'"


def test_the_next_step_has_the_options_of_this_one() -> None:
    job = replace(JOB, stdin=Path("/i n"), allowed=frozenset({0, 3}), ignore_output=True)
    given = "--stdin '/i n' --allow-status 3 --ignore-output"
    assert next_step(measured(1.0, 1.5, 1.1), job, 60, "halo") == (
        f"halo run {given} -- prog SMALL-ARGS -- prog 'a b'"
    )
    plain = next_step(measured(1.0, 1.0, 1.0), job, 60, "halo")
    assert plain == "env LD_PRELOAD=/lib/libjemalloc.so.2 prog 'a b' <'/i n'"


def test_times_that_vary_much_show_no_indifference() -> None:
    """Rounds that are slow alike leave no difference, and are no evidence that there is none."""
    times = [1 + 0.1 * number for number in range(10)]
    rounds = {label: samples(*times) for label in ("jemalloc", RANDOM, SINGLE)}
    found = Probe(measured(1.0, 1.0, 1.0).best, {}, rounds)
    assert judge(found.between, found.changes.values()) is Answer.DOES_NOT_CARE
    assert found.answer is Answer.CANNOT_TELL
    (warning,) = summarize_probe(found, JOB)["warnings"]
    assert "The times vary much" in warning and "1 pool (" in warning
    assert summarize_probe(measured(1.0, 1.5, 1.0), JOB)["warnings"] == []


def test_the_summary_has_every_documented_key() -> None:
    summary = json.loads(json.dumps(summarize_probe(measured(1.0, 1.5, 1.0), JOB)))
    assert set(summary) == {
        "program",
        "answer",
        "best_baseline",
        "allocators",
        "rounds",
        "between",
        "changes",
        "outputs_compared",
        "warnings",
    }
    assert summary["answer"] == "cares"
    assert summary["changes"][RANDOM] == {"value": 0.5, "interval": [0.5, 0.5]}


def test_a_budget_holds_whole_rounds() -> None:
    assert rounds_within(10.0, 3.0) == 3
    assert rounds_within(-5.0, 3.0) == 0
    assert rounds_within(1.0, 0.0) == 100


def test_a_wide_spread_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    quiet, wide = measured(1.0, 1.5, 1.0), measured(1.0, 1.5, 1.0)
    wide.rounds[RANDOM][:] = samples(1.0, 1.5, 2.0)
    assert summarize_probe(quiet, JOB)["warnings"] == []
    (warning,) = summarize_probe(wide, JOB)["warnings"]
    assert f"{RANDOM} (" in warning and "--seconds" in warning
    show_probe(wide, JOB, 60, "halo")
    assert warning in capsys.readouterr().out


def test_a_bundled_workload_is_probed(tmp_path: Path) -> None:
    command = [str(BUILD / "bench" / "scene"), "20000", "10", "1"]
    outcome = halo("probe", "--seconds", "5", "--json", "probe.json", "--", *command, cwd=tmp_path)
    assert outcome.status in {answer.value for answer in Answer}, outcome.stderr
    summary = json.loads((tmp_path / "probe.json").read_text())
    assert summary["program"] == "scene"
    assert Answer[summary["answer"].upper().replace("-", "_")].value == outcome.status
    assert set(summary["allocators"]) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert set(summary["rounds"]) == {summary["best_baseline"], RANDOM, SINGLE}
    assert all(7 <= found["trials"] <= 51 for found in summary["rounds"].values())
    *_, sentence, step = outcome.stdout.splitlines()
    assert "scene" in sentence and "where its objects lie" in sentence
    assert step.startswith("Next: ") and shlex.join(command) in step
    assert sorted(path.name for path in tmp_path.iterdir()) == ["probe.json"]


# Every list walked in the order in which it was made, beside the nodes of many others.
LISTS = r"""
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long pad[5]; };
enum { length = 400000 };
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
    """On a machine that is busy it may not be told, and the spread is named as the cause."""
    compile_c(LISTS, tmp_path / "lists")
    outcome = halo("probe", "--seconds", "8", "--", "./lists", cwd=tmp_path)
    if outcome.status == Answer.CANNOT_TELL.value:
        assert "The times vary much" in outcome.stdout
        return
    assert outcome.status == Answer.CARES.value, outcome.stdout
    assert "halo run -- ./lists SMALL-ARGS -- ./lists" in outcome.stdout


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
    assert outcome.status != Answer.CARES.value, outcome.stdout


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
    """It runs itself anew without the variables, as some wrappers do."""
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
