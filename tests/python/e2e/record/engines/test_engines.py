"""Bursts of the engine `valgrind` tell what all accesses tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.plan import read_plan
from halo.record.profile import SAMPLING, Profile, read_profile
from support.command import BUILD, compile_c, halo
from support.recordings import tells_only_its_file

BENCH = BUILD / "bench"
Key = tuple[tuple[str, int], ...]


def record(path: Path, *words: str) -> Profile:
    """Of a program and its arguments, behind options of `halo record`."""
    outcome = halo("record", "--engine", "valgrind", "-o", str(path), *words)
    assert outcome.status == 0 and tells_only_its_file(outcome.stderr, path)
    return read_profile(path)


def keys(profile: Profile) -> list[Key]:
    """Each context's stack, innermost first."""
    frames = [(profile.modules[f.module].build_id, f.offset) for f in profile.frames]
    contexts = range(len(profile.contexts))
    return [tuple(frames[frame] for frame in profile.stack(at)) for at in contexts]


def counts(profile: Profile) -> dict[Key, tuple[int, ...]]:
    return {
        key: (it.allocations, it.frees, it.bytes, it.accesses, it.alignment, it.peak_live_bytes)
        for key, it in zip(keys(profile), profile.contexts, strict=True)
    }


def edges(profile: Profile) -> dict[frozenset[Key], int]:
    key = keys(profile)
    return {frozenset((key[a], key[b])): weight for a, b, weight in profile.edges}


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Profile, Profile]:
    """A folder; a program recorded in bursts, and as a whole."""
    folder = tmp_path_factory.mktemp("sampled")
    command = ("--", str(BENCH / "hospital"), "6", "150", "1")
    bursts = record(folder / "bursts.profile", *command)
    return folder, bursts, record(folder / "exact.profile", "--exact", *command)


def test_bursts_count_for_what_they_leave_out(sampled: tuple[Path, Profile, Profile]) -> None:
    _, bursts, exact = sampled
    assert (sampling := SAMPLING.of(bursts)) is not None and sampling.bursts > 20
    assert bursts.totals.accesses == pytest.approx(exact.totals.accesses, rel=0.1)
    weights = [sum(weight for *_, weight in it.edges) for it in (bursts, exact)]
    assert weights[0] == pytest.approx(weights[1], rel=0.15)


def test_bursts_leave_out_no_allocation(sampled: tuple[Path, Profile, Profile]) -> None:
    _, bursts, exact = sampled
    allocated = [{key: it[:3] for key, it in counts(p).items()} for p in (bursts, exact)]
    assert allocated[0] == allocated[1]
    assert bursts.totals.allocations == exact.totals.allocations
    assert bursts.totals.peak_live_bytes == exact.totals.peak_live_bytes


def test_the_error_that_is_stated_is_the_one_that_is_made(
    sampled: tuple[Path, Profile, Profile],
) -> None:
    _, bursts, exact = sampled
    assert (sampling := SAMPLING.of(bursts)) is not None
    ours, true = edges(bursts), edges(exact)
    made = sum(abs(ours.get(key, 0) - weight) for key, weight in true.items()) / sum(true.values())
    assert made < 4 * sampling.edge_error + 0.01


def test_bursts_lead_to_the_same_groups(sampled: tuple[Path, Profile, Profile]) -> None:
    folder, *_ = sampled
    groups = []
    for name in ("bursts", "exact"):
        plan = folder / f"{name}.plan"
        assert halo("plan", str(folder / f"{name}.profile"), "-o", str(plan)).status == 0
        review = read_plan(plan).review
        assert review is not None
        groups.append([sorted(it.stack for it in group.contexts) for group in review.groups])
    assert groups[0] == groups[1]


TURNS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int pipes[2][2], turns;
static volatile long *first, *rest, *always;
static void *work(void *own) {
  int in = pipes[(long)own][0], out = pipes[1 - (long)own][1];
  char byte;
  for (int turn = 0; turn < turns && read(in, &byte, 1) == 1; ++turn) {
    for (int i = 0; i < 2000; ++i) first[i & 7] += always[i & 7];
    for (int i = 0; i < 18000; ++i) rest[i & 15] += always[i & 7];
    if (write(out, &byte, 1) != 1) break;
  }
  return 0;
}
int main(int count, char **arguments) {
  turns = atoi(arguments[1]);
  first = calloc(8, sizeof *first);
  rest = calloc(16, sizeof *rest);
  always = calloc(8, sizeof *always);
  pthread_t threads[2];
  if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0 || write(pipes[0][1], "x", 1) != 1) return 1;
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], 0, work, (void *)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
}
"""


def test_what_threads_do_first_after_a_wait_counts_as_the_rest(tmp_path: Path) -> None:
    binary = compile_c(TURNS, tmp_path / "turns", "-pthread")
    command = ("--", str(binary), "1000")
    bursts = record(tmp_path / "bursts.profile", *command)
    exact = record(tmp_path / "exact.profile", "--exact", *command)
    assert (sampling := SAMPLING.of(bursts)) is not None and sampling.bursts > 50
    ours, true = counts(bursts), counts(exact)
    often = [key for key, it in true.items() if it[3] > 1_000_000]
    assert len(often) == 3
    for key in often:
        assert ours[key][3] == pytest.approx(true[key][3], rel=0.1)


FLOATS = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  double *x = malloc(64 * sizeof *x), sum = 0;
  for (int i = 0; i < 64; ++i) x[i] = i;
  for (int round = 0; round < 30000; ++round)
    for (int i = 0; i < 64; ++i) sum += sin(x[i] + round);
  printf("%d %s\\n", sum > -1e6, __builtin_cpu_supports("fma") ? "fma" : "none");
  free(x);
}
"""


def test_fused_multiply_adds_are_not_offered(tmp_path: Path) -> None:
    """They would take the translator a hundred times as long."""
    binary = compile_c(FLOATS, tmp_path / "floats", "-lm")
    command = ["record", "--engine", "valgrind", "--", str(binary)]
    outcome = halo(*command, cwd=tmp_path)
    assert outcome.stdout == "1 none\n"
