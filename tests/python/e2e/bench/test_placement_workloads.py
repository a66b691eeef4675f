"""The workloads whose objects have awkward sizes, or that grow: against obvious Python versions.

A plan for `NAME-256` is judged by what `NAME-240` does, so both have to do the same work.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from support.programs.workloads import (
    MASK,
    WORKLOADS,
    Rng,
    add_to_checksum,
    checksum,
    numbers,
    output,
)

GROWING = ("tree", "lists", "hashindex")
PAIRS = (("sessions", 240, 256), ("nodes", 4080, 4096), ("lattice", 510, 512))


@pytest.mark.parametrize("name", GROWING)
def test_the_reference_input_is_eight_times_the_training_input(name: str) -> None:
    workload = WORKLOADS[name]
    size, *rest, seed = workload["train"]
    assert workload["ref"][0] == str(8 * int(size))
    assert workload["ref"][1:-1] == rest
    assert workload["ref"][-1] != seed


@pytest.mark.parametrize(("name", "smaller", "larger"), PAIRS)
def test_two_sizes_differ_in_nothing_else(name: str, smaller: int, larger: int) -> None:
    one, other = WORKLOADS[f"{name}-{smaller}"], WORKLOADS[f"{name}-{larger}"]
    assert one["program"] == other["program"] == name
    for key in ("train", "ref"):
        assert one[key][1] == str(smaller) and other[key][1] == str(larger)
        assert one[key][:1] + one[key][2:] == other[key][:1] + other[key][2:]


@pytest.mark.parametrize("nodes", [0, 1, 2, 100, 1023])
def test_tree_sums_values_and_depths(nodes: int) -> None:
    rng = Rng(3)

    def build(count: int, depth: int) -> tuple[int, int]:
        """The sum of the values and that of the depths of a tree."""
        if count == 0:
            return 0, 0
        value = rng.next() >> 32
        left = build((count - 1) // 2, depth + 1)
        right = build(count - 1 - (count - 1) // 2, depth + 1)
        return value + left[0] + right[0], depth + left[1] + right[1]

    values, depths = build(nodes, 0)
    assert numbers("tree", nodes, 5, 3) == [values + 5 * depths, nodes]


def test_lists_finishes_jobs_when_their_time_is_over() -> None:
    lists, steps, seed = 7, 60, 4
    rng = Rng(seed)
    jobs: list[list[list[int]]] = [[] for _ in range(lists)]
    appended = finished = work = 0
    for _ in range(steps):
        for at in range(lists):
            for _ in range(rng.below(5)):
                remaining, priority = 1 + rng.below(20), 1 + rng.below(8)
                jobs[at].append([remaining, priority * remaining])
                appended += 1
            for job in jobs[at]:
                job[0] -= 1
            done = [job for job in jobs[at] if job[0] == 0]
            finished += len(done)
            work += sum(job[1] for job in done)
            jobs[at] = [job for job in jobs[at] if job[0] > 0]
    assert numbers("lists", lists, steps, seed) == [appended, finished, work]


def test_hashindex_finds_what_is_there() -> None:
    records, rounds, seed = 200, 6, 5
    rng = Rng(seed)
    oldest, newest, found = 0, records, 0
    for _ in range(rounds):
        live = newest - oldest
        drawn = [oldest + rng.below(live + live // 7) for _ in range(records)]
        found += sum(number < newest for number in drawn)
        oldest, newest = oldest + live // 4, newest + live // 4
    assert numbers("hashindex", records, rounds, seed) == [records, found]


def test_nodes_searches_the_node_of_every_64th_visit() -> None:
    count, keys, visits, seed = 6, 10, 1000, 7
    rng = Rng(seed)
    index = []
    for _ in range(count):
        node = [1 + rng.below(1 << 20)]
        while len(node) < keys:
            node.append(node[-1] + 1 + rng.below(1 << 20))
        index.append(node)
    links = []
    for _ in range(2):
        targets = list(range(count))
        for left in range(count, 0, -1):
            other = rng.below(left)
            targets[left - 1], targets[other] = targets[other], targets[left - 1]
        links.append(targets)
    at = below = choices = 0
    for visit in range(visits):
        if visit % 64 == 0:
            choices = rng.next()
            below += sum(key < choices >> 36 for key in index[at])
        at = links[choices & 1][at]
        choices >>= 1
    assert numbers("nodes-4096", count, 32 + 8 * keys, visits, seed) == [visits, count, below]


@pytest.mark.parametrize("cells", [1, 8, 510])
def test_lattice_keeps_its_mass(cells: int) -> None:
    start = numbers("lattice-512", 3, cells, 0, 2)
    end = numbers("lattice-512", 3, cells, 50, 2)
    assert end == [pytest.approx(start[0], rel=1e-6), 50]


def test_sessions_handles_each_event_once() -> None:
    """The events of all sessions, by the steps that the random states of the sessions prescribe."""
    count, bytes_, events, seed = 5, 64, 400, 6
    rng = Rng(seed)
    states, transfers = [], []
    for _ in range(count):
        states.append(rng.next())
        kind = rng.below(8)
        transfers.append(900 if kind == 0 else 40 if kind < 4 else 0)
    ready = []
    waiting = list(range(count))
    for left in range(count, 0, -1):
        other = rng.below(left)
        waiting[left - 1], waiting[other] = waiting[other], waiting[left - 1]
        ready.append(waiting[left - 1])
    handled = [0] * count
    scratch = [[0] * 4 for _ in range(count)]
    stalled = None
    for _ in range(events):
        at: int | None = ready.pop(0)
        assert at is not None
        states[at] = (states[at] * 0xD1342543DE82EF95 + at) & MASK
        transfers[at] += states[at] >> 56
        handled[at] += 1
        if handled[at] % 256 == 0:
            scratch[at][(states[at] >> 32) % 4] += transfers[at]
        if states[at] >> 40 & 0x3F == 0:
            at, stalled = stalled, at
        if at is not None:
            ready.append(at)
    checksum = 0
    for at in range(count):
        for value in (states[at], transfers[at] + handled[at], *scratch[at]):
            checksum = ((checksum ^ value) * 0x100000001B3 + (checksum >> 47)) & MASK
    assert f"checksum {checksum:016x}\n" in output("sessions-256", count, bytes_, events, seed)
    assert sum(handled) == events


def test_frames_converts_each_picture_and_counts_in_the_table() -> None:
    pictures, bytes_, entries, lookups, seed = 3, 300, 50, 40, 5
    rng = Rng(seed)
    table = [1] * entries
    want = 0
    for _ in range(pictures):
        key = rng.next()
        decoded = [(at * key & MASK) >> 8 & 255 for at in range(bytes_)]
        converted = [(left + right) // 2 for left, right in pairwise(decoded)]
        want = add_to_checksum(want, [*converted, decoded[-1]][rng.below(bytes_)])
        found = 0
        for _ in range(lookups):
            at = rng.below(entries)
            table[at] += 1
            found += table[at]
        want = add_to_checksum(want, found)
    assert checksum("frames", pictures, bytes_, 8 * entries, lookups, seed) == want


def test_sweep_relaxes_every_cell_but_the_borders() -> None:
    cells, rounds, seed = 40, 7, 3
    rng = Rng(seed)
    source = [rng.below(1000) for _ in range(cells)]
    now = [0] * cells
    for _ in range(rounds):
        inner = range(1, cells - 1)
        relaxed = [(now[at - 1] // 2 + now[at + 1] // 2) // 2 + source[at] for at in inner]
        now = [0, *relaxed, 0]
    want = 0
    for value in now:
        want = add_to_checksum(want, value)
    assert checksum("sweep", cells, rounds, seed) == want
