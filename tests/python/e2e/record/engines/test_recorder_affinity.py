"""The C++ affinity sink agrees with the slow reference on section 4.1 of the paper."""

from __future__ import annotations

import random
import subprocess

import pytest

from support.command import BUILD, REPOSITORY, load_module

REPLAY = BUILD / "bin" / "halo-replay"


reference = load_module(REPOSITORY / "tests" / "reference" / "affinity.py", "reference_affinity")


def replay(trace: list[str], distance: int) -> list[str]:
    run = subprocess.run(
        [REPLAY, str(distance)],
        input="\n".join(trace) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(run.stdout.splitlines())


def expect_same(trace: list[str], distance: int) -> list[str]:
    lines = replay(trace, distance)
    assert lines == reference.render(reference.affinity_graph(trace, distance))
    return lines


def figure_5() -> list[str]:
    """Ten objects, one of each context, each accessed once with 4 bytes."""
    allocs = [f"alloc {n} {n} 16" for n in range(10)]
    return allocs + [f"access 0 {n} 4" for n in range(10)]


def test_figure_5_newest_pairs_with_exactly_seven() -> None:
    lines = expect_same(figure_5(), 32)
    newest = [line for line in lines if line.startswith("edge") and line.split()[2] == "9"]
    assert newest == [f"edge {n} 9 1" for n in range(2, 9)]


def test_consecutive_accesses_are_one() -> None:
    trace = ["alloc 0 0 16", "alloc 1 1 16"] + ["access 0 0 8"] * 5 + ["access 0 1 8"] * 5
    assert expect_same(trace, 128) == ["edge 0 1 1", "node 0 1", "node 1 1"]


def test_an_object_counts_once_a_traversal() -> None:
    trace = [f"alloc {n} {n} 16" for n in range(3)]
    trace += [f"access 0 {n} 8" for n in (0, 1, 0, 1, 2)]
    assert "edge 0 2 1" in expect_same(trace, 128)


def test_repeated_access_to_one_object_is_not_affinity() -> None:
    trace = ["alloc 0 0 16", "alloc 1 1 16"] + [f"access 0 {n} 8" for n in (0, 1, 0)]
    assert "edge 0 0 1" not in expect_same(trace, 128)


def test_an_allocation_between_prevents_pairing() -> None:
    trace = ["alloc 0 0 16", "alloc 1 1 16", "alloc 2 0 16"]
    trace += ["access 0 0 8", "access 0 2 8", "access 0 1 8"]
    # 0 and 2 are of the same context with none of it between; 1 pairs with both.
    assert expect_same(trace, 128)[:2] == ["edge 0 0 1", "edge 0 1 2"]
    trace = ["alloc 0 0 16", "alloc 2 0 16", "alloc 1 1 16", "access 0 0 8", "access 0 1 8"]
    assert expect_same(trace, 128) == ["node 0 1", "node 1 1"]


def test_an_allocation_that_comes_after_the_first_access_still_counts() -> None:
    trace = ["alloc 0 0 16", "access 0 0 8", "alloc 1 0 16", "alloc 2 1 16", "access 0 2 8"]
    assert expect_same(trace, 128) == ["node 0 1", "node 1 1"]


def test_threads_have_their_own_queues() -> None:
    trace = ["alloc 0 0 16", "alloc 1 1 16", "access 0 0 8", "access 1 1 8"]
    assert expect_same(trace, 128) == ["node 0 1", "node 1 1"]


def random_trace(seed: int) -> list[str]:
    """Bursts of allocations, accesses near one another, frees and a few threads."""
    pick = random.Random(seed)
    contexts, threads = pick.randint(1, 12), pick.choice([1, 1, 2, 4])
    live: list[int] = []
    trace: list[str] = []
    made = 0
    for _ in range(pick.randint(50, 1500)):
        action = pick.random()
        if action < 0.15 or not live:
            size = pick.choice([0, 1, 8, 24, 40, 4096])
            trace.append(f"alloc {made} {pick.randrange(contexts)} {size}")
            if size:
                live.append(made)
            made += 1
        elif action < 0.2:
            trace.append(f"free {live.pop(pick.randrange(len(live)))}")
        else:
            recent = live[-pick.choice([2, 5, 20, len(live)]) :]
            thread, size = pick.randrange(threads), 1 << pick.randint(0, 5)
            trace.append(f"access {thread} {pick.choice(recent)} {size}")
    return trace


@pytest.mark.parametrize("distance", [0, 1, 8, 32, 128, 1000])
@pytest.mark.parametrize("seed", range(25))
def test_random_traces(seed: int, distance: int) -> None:
    expect_same(random_trace(seed), distance)


@pytest.mark.parametrize("successor_at", [None, 1, 70_000, 149_000])
def test_ids_are_reused_without_effect(successor_at: int | None) -> None:
    """A thread that rests while far more objects die than the quarantine holds keeps its window."""
    trace = ["alloc 0 7 16", "access 1 0 8", "free 0"]
    for n in range(1, 150_000):
        trace += [f"alloc {n} {n % 3} 16", f"access 0 {n} 8", f"free {n}"]
        if n == successor_at:
            trace.append("alloc 200000 7 16")
    trace += ["alloc 150000 8 16", "access 1 150000 8"]
    # The reference looks through all allocations between two: keep its distance small.
    assert ("edge 7 8 1" in expect_same(trace, 16)) == (successor_at is None)
