"""The simulated caches against an independent simulator, pycachesim."""

from __future__ import annotations

import random
import subprocess

import pytest
from cachesim import Cache, CacheSimulator, MainMemory

from support.command import BUILD

LINE = 64
Access = tuple[str, int, int]


def run_simulate(arguments: list[str], trace: list[Access]) -> list[str]:
    """The lines of halo-simulate."""
    done = subprocess.run(
        [BUILD / "bin" / "halo-simulate", *arguments],
        input="".join(f"{verb} {address} {size}\n" for verb, address, size in trace),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def simulated(shapes: list[tuple[int, int]], trace: list[Access]) -> list[int]:
    """What each level misses in ours."""
    levels = ",".join(f"{sets}x{ways}" for sets, ways in shapes)
    return [int(line.split()[2]) for line in run_simulate(["--no-prefetch", levels], trace)]


def independently(shapes: list[tuple[int, int]], trace: list[Access]) -> list[int]:
    """What each level misses in theirs.

    There a store that hits leaves the order of use as it is; with a load before it, it does not.
    Lists of one address: of an address alone, pycachesim 0.3.1 reads 32 bits and sets no others.
    """
    lower = None
    levels: list[Cache] = []
    for at, (sets, ways) in reversed(list(enumerate(shapes))):
        lower = Cache(f"L{at}", sets, ways, LINE, "LRU", load_from=lower, store_to=lower)
        levels.insert(0, lower)
    memory = MainMemory()
    memory.load_to(levels[-1])
    memory.store_from(levels[-1])
    simulator = CacheSimulator(levels[0], memory)
    for verb, address, size in trace:
        simulator.load([address], length=size)
        if verb == "store":
            simulator.store([address], length=size)
    return [level.stats()["MISS_count"] for level in levels]


def make_trace(seed: int) -> list[Access]:
    """Walks with jumps over some KiB: lines are used again, replaced and written back."""
    rng = random.Random(seed)
    span = 1 << rng.randint(10, 18)
    at = 0
    trace = []
    for _ in range(5000):
        at = rng.randrange(span) if rng.random() < 0.3 else (at + 8) % span
        size = rng.choice((1, 4, 8, 8, 16))
        at = min(at, (at // LINE + 1) * LINE - size)  # theirs counts what crosses a line once
        trace.append((rng.choice(("load", "load", "store")), max(at, 0), size))
    return trace


SHAPES = [
    [(64, 8)],
    [(16, 2), (64, 4)],
    [(8, 8), (32, 16), (100, 11)],
    [(64, 12), (1024, 16), (4096, 11)],
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_misses_are_those_of_an_independent_simulator(
    shapes: list[tuple[int, int]], seed: int
) -> None:
    trace = make_trace(seed)
    assert simulated(shapes, trace) == independently(shapes, trace)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(16, 2), (64, 8), (64, 12)], ids=str)
def test_classes_are_those_of_a_fully_associative_cache(shape: tuple[int, int], seed: int) -> None:
    trace = make_trace(seed)
    sets, ways = shape
    found = run_simulate(["--classes", f"{sets}x{ways}"], trace)
    real, *classes, shadow = (int(line.split()[-1]) for line in found)
    compulsory, capacity, conflict, anti = classes
    assert real == compulsory + capacity + conflict
    assert shadow == compulsory + capacity + anti
    assert [real] == independently([shape], trace)
    assert [shadow] == independently([(1, sets * ways)], trace)
    assert compulsory == len({address // LINE for _, address, _ in trace})


@pytest.mark.parametrize(
    ("arguments", "trace", "status", "words"),
    [
        ([], "", 2, "usage"),
        (["64"], "", 2, "usage"),
        (["64x0"], "", 2, "usage"),
        (["64x8,"], "load 0 8\n", 0, ""),
        (["64x8"], "load 0\n", 1, "not understood: load 0"),
        (["64x8"], "jump 0 8\n", 1, "not understood: jump 0 8"),
        (["1x1,1x1,1x1,1x1,1x1"], "", 2, "no such machine"),
    ],
)
def test_the_tool_says_what_it_does_not_understand(
    arguments: list[str], trace: str, status: int, words: str
) -> None:
    done = subprocess.run(
        [BUILD / "bin" / "halo-simulate", *arguments],
        input=trace,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert words in done.stderr


def bench(trace: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "bin" / "halo-simulator-bench"), "1", "-"]
    return subprocess.run(command, input=trace, capture_output=True, text=True, check=False)


def test_the_speed_is_that_of_the_accesses_of_a_trace() -> None:
    """Of six accesses (what is modified is loaded and stored) the first to each page misses."""
    trace = "==1== Lackey\nI  400000,3\n L 10000,8\n S 20000,4\nhello\n M 30000,8\n L 10008,8\n"
    done = bench(trace + " S 1fff80,8\n")
    assert done.returncode == 0
    assert "66.7 % of them miss the first level" in done.stdout


def test_a_trace_without_accesses_is_refused() -> None:
    done = bench("hello\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "halo-simulator-bench: no accesses in -\n"
