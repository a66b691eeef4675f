"""Prints the output of `halo bench --json` as the tables of docs/evaluation.md and its pages.

speed_table.py FILE...   each FILE is of one program or of several; the fastest gain comes first
speed_table.py --merge FILE...   prints them as one list in JSON instead, to be kept in docs/
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ALLOCATORS = ("glibc", "jemalloc", "mimalloc", "tcmalloc")
TIME_HEADINGS = (
    *("program", *ALLOCATORS, "halo", "kept"),
    *("speed-up", "over its own", "peak MB", "system s"),
)
RECORDING_HEADINGS = ("program (training input)", "native s (glibc)", "recorded s", "times native")
Summary = dict[str, Any]
"""The summary of one program in the form of `halo bench --json` (docs/cli.md)."""


def read(paths: Sequence[Path]) -> list[Summary]:
    """All programs of the files, by descending speed-up."""
    found: list[Summary] = []
    for path in paths:
        content = json.loads(path.read_text())
        found += content if isinstance(content, list) else [content]
    return sorted(found, key=lambda it: -float(it["speedup"]))


def seconds(entry: Summary) -> str:
    low, high = entry["quartiles"]
    return f"{entry['median']:.3f} ({low:.3f}–{high:.3f})"


def megabytes(entry: Summary) -> str:
    return f"{entry['peak_memory'] / 1e6:.0f}"


def time_cells(it: Summary) -> Iterator[str]:
    allocators, halo = it["allocators"], it["halo"]
    best = allocators[it["best_baseline"]]
    low, high = it["speedup_interval"]
    yield it["program"]
    for name in ALLOCATORS:
        yield seconds(allocators[name]) if name in allocators else "left out"
    yield seconds(halo)
    yield f"{it['candidate']} over {it['allocator']}"
    yield f"**{it['speedup']:.3f}** ({low:.2f}–{high:.2f})"
    yield f"{allocators[it['allocator']]['median'] / halo['median']:.3f}"
    yield f"{megabytes(best)} → {megabytes(halo)}"
    yield f"{best['system']:.2f} → {halo['system']:.2f}"


def recording_cells(it: Summary) -> Iterator[str]:
    record = it["record"]
    yield it["program"]
    for value in (record["native_seconds"], record["seconds"]):
        yield f"{value:.2f}"
    yield f"{record['slowdown']:.1f}"


def lines_of(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (headings, ["---"] * len(headings), *rows):
        yield f"| {' | '.join(cells)} |"


def as_text(summaries: Sequence[Summary]) -> str:
    mean = statistics.geometric_mean(it["speedup"] for it in summaries)
    times = [tuple(time_cells(it)) for it in summaries]
    records = [tuple(recording_cells(it)) for it in summaries]
    return "\n".join(
        (
            *lines_of(TIME_HEADINGS, times),
            "",
            f"Geometric mean of the speed-ups: {mean:.3f}.",
            "",
            *lines_of(RECORDING_HEADINGS, records),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--merge", action="store_true", help="print one list in JSON instead")
    given = parser.parse_args()
    found = read(given.files)
    print(json.dumps(found, indent=1) if given.merge else as_text(found))


if __name__ == "__main__":
    main()
