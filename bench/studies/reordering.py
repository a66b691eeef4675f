"""Puts the nodes of a file in the order of a layout, and times traversals (Miucin, 3.5.2).

The program `graph` reads a file of nodes, 810,000 by default, sorted by ids that have no locality,
and traverses it. The two traversals of a traced run give the hierarchical layout; the file's lines
are put in that order. Then ten traversals from other nodes are timed with both files and with one
in random order, alternating. Ends with status 1 if the layout saves less than the thesis's 14 % of
the traversals' time breadth-first, or 18 % depth-first.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from halo.base.settings import Settings, read_settings
from halo.studies.layouts.document import LayoutDocument
from halo.studies.layouts.verdict import judge

sys.path.insert(0, str(Path(__file__).parents[1] / "programs" / "inputs"))
from common import generator
from graph import lines

BARS = {"bfs": 0.14, "dfs": 0.18}
NODE_BYTES = 32
PHASES = {"bfs": "graph::breadth_first", "dfs": "graph::depth_first"}
TRACED, TIMED = ("2", "1"), ("10", "2")  # traversals, and the seed of their first nodes


def layout_order(settings: Settings, file: Path, traversal: str, folder: Path) -> list[int]:
    """The file's lines in the order of the layout of a traced run."""
    path, result = folder / f"{traversal}.order", folder / f"{traversal}.json"
    options = ["--quick", "--phase", PHASES[traversal], "--order", str(path)]
    options += ["--json", str(result)]
    program = [str(settings.build / "bench" / "graph"), str(file), traversal, *TRACED]
    done = subprocess.run(
        [sys.executable, "-m", "halo", "study", "layout", *options, "--", *program],
        capture_output=True,
        text=True,
        check=False,
    )
    if not result.is_file():
        sys.exit(f"halo study layout failed: {done.stderr}")
    document = msgspec.json.decode(result.read_bytes(), type=LayoutDocument)
    print(judge(document.replayed).sentence)
    return nodes_of(path, len(file.read_text().splitlines()))


def nodes_of(path: Path, count: int) -> list[int]:
    """The numbers of the objects of the context that has a node for each line."""
    by_context: dict[str, list[int]] = {}
    for line in path.read_text().splitlines()[1:]:
        context, ordinal, size = line.split()
        if int(size) == NODE_BYTES:
            by_context.setdefault(context, []).append(int(ordinal))
    return next(one for one in by_context.values() if sorted(one) == list(range(count)))


def seconds(settings: Settings, file: Path, traversal: str) -> tuple[float, str]:
    """Of the traversals, and the checksum."""
    program = [str(settings.build / "bench" / "graph"), str(file), traversal, *TIMED]
    environment = {**os.environ, "HALO_BENCH_PHASES": "1"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    return float(done.stderr.split()[1]), done.stdout


def compare(settings: Settings, files: Sequence[Path], traversal: str, trials: int) -> list[float]:
    """The median seconds with each file."""
    found: list[list[float]] = [[] for _ in files]
    checksums = set()
    for _ in range(trials):
        for mine, file in zip(found, files, strict=True):
            time, checksum = seconds(settings, file, traversal)
            mine.append(time)
            checksums.add(checksum)
    if len(checksums) != 1:
        sys.exit("the order of the file changed the result")
    return [statistics.median(mine) for mine in found]


def write_lines(path: Path, text: Sequence[str]) -> Path:
    path.write_text("\n".join([*text, ""]))
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=900, help="nodes of a side of the square")
    parser.add_argument("--trials", type=int, default=11)
    given = parser.parse_args()
    settings = read_settings()
    met = True
    print("| Traversal | by id, s | random, s | by layout, s | less time than by id |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="halo-reordering-") as scratch:
        folder = Path(scratch)
        nodes = list(lines(generator("graph ref"), given.side))
        by_id = write_lines(folder / "by-id.txt", nodes)
        shuffled = random.Random(1).sample(nodes, len(nodes))
        at_random = write_lines(folder / "random.txt", shuffled)
        for traversal, bar in BARS.items():
            order = layout_order(settings, by_id, traversal, folder)
            ordered = write_lines(folder / f"{traversal}.txt", [nodes[at] for at in order])
            times = compare(settings, (by_id, at_random, ordered), traversal, given.trials)
            saved = 1 - times[2] / times[0]
            figures = " | ".join(f"{one:.3f}" for one in times)
            print(f"| {traversal} | {figures} | {saved:.0%} |", flush=True)
            met = met and saved >= bar
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
