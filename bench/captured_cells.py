"""Compares the cells of a mesh's nodes: by hints of the unmodified program, and by its source.

captured_cells.py [COLUMNS ROWS [STEPS]]   default: the training input of `mesh`

The unmodified `mesh` is recorded, and runs under the plan of its hints; `mesh-tidy` passes the
coordinates itself. Both have the intervals of `mesh-tidy`; a second line has those of the plan. A
cell's memory is a bucket of Tidy. Ends with status 1 if less than 99 per cent of the nodes share
their buckets with the same nodes in both programs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from evidence import halo as run_halo

from halo.plan import Plan, read_plan, write_plan
from halo.process.allocators import find_allocator, under_plan
from halo.settings import Settings, read_settings
from halo.trials.bundled import find_bundled, prepare

MIN_SHARE = 0.99
SOURCE_WIDTH = 1 / 64
"""An interval of bench/mesh-tidy."""
BUCKET_BYTES = 1024
NODE_BYTES = 40
"""Two coordinates and a std::vector of at most MAX_TRIANGLES pointers."""
MAX_TRIANGLES = 8
PIPE_BYTES = 1 << 16
SECONDS = 60
NEXT = "glibc"

Cells = Mapping[tuple[float, float], int]
"""The bucket of each node, by its coordinates."""
Words = npt.NDArray[np.uint64]


def cells_of(
    program: Path, arguments: Sequence[str], environment: Mapping[str, str], nodes: int
) -> Cells:
    """The buckets of a mesh's nodes behind the traversal, from the memory of the process.

    The process then writes its time to standard error (bench/common/phase.h). That is a pipe which
    is full, so the process waits.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filled = 0
    try:
        while True:
            filled += os.write(writer, bytes(PIPE_BYTES))
    except BlockingIOError:
        os.set_blocking(writer, True)
    process = subprocess.Popen(
        [program, *arguments],
        env={**environment, "HALO_BENCH_PHASES": "1"},
        stdout=subprocess.DEVNULL,
        stderr=writer,
    )
    os.close(writer)
    try:
        _wait_for_write(process)
        found = dict(_nodes(process.pid))
    finally:
        process.kill()
        process.wait()
        os.close(reader)
    if len(found) != nodes:
        sys.exit(f"{program.name}: {len(found)} of {nodes} nodes are in its memory")
    return found


def _wait_for_write(process: subprocess.Popen[bytes]) -> None:
    """Waits until the process is in `write(2, ...)`."""
    state = Path(f"/proc/{process.pid}/syscall")
    deadline = time.monotonic() + SECONDS
    while not state.read_text().startswith("1 0x2 "):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit("the program does not write the time of its traversal")
        time.sleep(0.01)


def _nodes(pid: int) -> Iterator[tuple[tuple[float, float], int]]:
    """The coordinates and the bucket of all that looks like a node."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, access, *_ = line.split()
            if not access.startswith("rw"):
                continue
            first, last = (int(number, 16) for number in place.split("-"))
            memory.seek(first)
            words = np.frombuffer(memory.read(last - first), np.uint64)
            for at in _starts(words):
                x, y = words[at : at + 2].view(np.float64)
                yield (float(x), float(y)), (first + 8 * int(at)) // BUCKET_BYTES


def _starts(words: Words) -> npt.NDArray[np.int64]:
    """Where nodes begin, as indices: two coordinates, and the pointers of a filled vector."""
    count = len(words) - NODE_BYTES // 8 + 1
    if count <= 0:
        return np.zeros(0, np.int64)
    x, y, begin, end, capacity = (words[at : at + count] for at in range(NODE_BYTES // 8))
    used = (end - begin).astype(np.int64)
    are_pointers = (begin >= 1 << 16) & (capacity < 1 << 47) & (end <= capacity)
    holds = (used > 0) & (used <= 8 * MAX_TRIANGLES) & (used % 8 == 0)
    return np.flatnonzero(are_pointers & holds & _are_coordinates(x) & _are_coordinates(y))


def _are_coordinates(words: Words) -> npt.NDArray[np.bool_]:
    values = words.view(np.float64)
    with np.errstate(invalid="ignore"):
        found: npt.NDArray[np.bool_] = (values > 2.0**-60) & (values < 1 << 20)
    return found


def share_alike(one: Cells, other: Cells) -> float:
    """The share of the nodes that are in one bucket with the same nodes in both."""
    if set(one) != set(other):
        return 0.0
    mine, theirs = _members(one), _members(other)
    return sum(mine[one[at]] == theirs[other[at]] for at in one) / len(one)


def _members(cells: Cells) -> dict[int, set[tuple[float, float]]]:
    found: dict[int, set[tuple[float, float]]] = {}
    for at, cell in cells.items():
        found.setdefault(cell, set()).add(at)
    return found


def with_widths(plan: Plan, width: float) -> Plan:
    """The plan with intervals of that width for all keys."""
    rules = (
        rule._replace(keys=tuple(key._replace(width=width) for key in rule.keys))
        for rule in plan.hints
    )
    return replace(plan, hints=tuple(rules))


def compare(
    settings: Settings, program: Path, training: Sequence[str], arguments: Sequence[str]
) -> tuple[float, float]:
    """The shares of nodes placed alike: with the source's intervals, and with the plan's own.

    `program` is a build of `mesh`; its first two arguments are columns and rows.
    """
    nodes = int(arguments[0]) * int(arguments[1])
    variant = settings.build / "bench" / "mesh-tidy"
    by_source = cells_of(variant, arguments, settings.environment, nodes)
    with tempfile.TemporaryDirectory(prefix="halo-cells-") as name:
        folder = Path(name)
        profile, own, same = folder / "mesh.profile", folder / "own.plan", folder / "same.plan"
        command = ("record", "--objects", "--contents", "-o", str(profile), "--")
        run_halo(*command, str(program), *training, env={})
        run_halo("plan", "--strategy", "hints", "-o", str(own), str(profile), env={})
        write_plan(with_widths(read_plan(own), SOURCE_WIDTH), same)
        shares = []
        for plan in (same, own):
            chosen = under_plan(settings.environment, settings.runtime, plan, find_allocator(NEXT))
            shares.append(share_alike(cells_of(program, arguments, chosen, nodes), by_source))
    return shares[0], shares[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", metavar="NUMBER", help="columns, rows, steps")
    given = parser.parse_args()
    settings = read_settings()
    job, _ = prepare(settings, find_bundled(settings, "mesh"))
    columns, rows, steps, seed = job.arguments
    chosen = [*given.numbers, *(columns, rows, steps)[len(given.numbers) :], seed]
    same, own = compare(settings, job.target.path, chosen, chosen)
    print(f"nodes with the same neighbours in their bucket: {same:.2%}")
    print(f"with the intervals of the plan: {own:.2%}")
    return 0 if same >= MIN_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
