"""Replays the bundled programs with their objects in other orders: the most that order could save.

layouts.py replay FOLDER [NAME...] [--machine M]   runs what FOLDER/NAME.json is missing
layouts.py table FOLDER [NAME...]                  prints a row for each program

Without names, the thirteen programs, on training inputs.

All layouts have memory reused as recorded. Figures are relative to the recorded layout. Ends with
status 1 if, of the orders of the thesis, none has fewer misses of the last cache and of the first
TLB than recorded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
from everything import PROGRAMS

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.studies.layouts.document import LayoutDocument, ReplayedLayout
from halo.studies.layouts.verdict import USUAL, judge

MACHINE = "miucin"
THESIS = ("hml", "hml-ordered")
PACKING = "reuse"


def replay(settings: Settings, name: str, machine: str, file: Path) -> None:
    """One traced run; its trace is removed."""
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    command = [str(training.target.path), *training.arguments]
    with tempfile.TemporaryDirectory(prefix="halo-layouts-") as folder:
        result = Path(folder) / "result.json"
        options = ["--machine", machine, "--json", str(result)]
        done = subprocess.run(
            [sys.executable, "-m", "halo", "layout", *options, "--", *command],
            env={**os.environ, **bundled.env},
            capture_output=True,
            check=False,
        )
        if not result.is_file():
            sys.exit(f"halo study layout failed on {name}:\n{done.stderr.decode(errors='replace')}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(result.read_bytes())


def relative(one: ReplayedLayout, recorded: ReplayedLayout, level: str) -> float:
    return one.misses[level] / max(1, recorded.misses[level])


def row(name: str, document: LayoutDocument) -> str:
    """Modelled cycles by order, and misses by level of the best order of the thesis."""
    replayed = document.replayed
    recorded = replayed.replays[0]
    packed = {one.order: one for one in replayed.replays if one.packing == PACKING}
    cycles = [packed[order].cycles / max(1, recorded.cycles) for order in packed]
    best = min((packed[order] for order in THESIS), key=lambda one: one.cycles)
    levels = [relative(best, recorded, level) for level in recorded.misses]
    verdict = judge(replayed)
    figures = " | ".join(f"{one:.2f}" for one in (*cycles, *levels))
    return f"| {name} | {figures} | {verdict.best.order} {max(0.0, verdict.gain):.0%} |"


def helps(document: LayoutDocument) -> bool:
    """Whether an order of the thesis has at most the recorded misses of the last cache and TLB."""
    recorded = document.replayed.replays[0]
    cache, tlb = list(recorded.misses)[-2:]
    return any(
        one.misses[cache] <= recorded.misses[cache] and one.misses[tlb] <= recorded.misses[tlb]
        for one in document.replayed.replays
        if one.order in THESIS and one.packing == PACKING
    )


def table(folder: Path, names: list[str]) -> bool:
    documents = {
        name: msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=LayoutDocument)
        for name in names
    }
    first = next(iter(documents.values())).replayed
    orders = [one.order for one in first.replays if one.packing == PACKING]
    levels = list(first.replays[0].misses)
    print(f"| Program | {' | '.join((*orders, *levels))} | saved over {', '.join(USUAL)} |")
    print(f"| --- |{' ---: |' * (len(orders) + len(levels))} --- |")
    met = True
    for name, document in documents.items():
        print(row(name, document))
        met = met and helps(document)
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("replay", "table"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--machine", default=MACHINE)
    given = parser.parse_args()
    names = given.names or list(PROGRAMS)
    if given.what == "table":
        return 0 if table(given.folder, names) else 1
    settings = read_settings()
    for name in names:
        if not (given.folder / f"{name}.json").is_file():
            replay(settings, name, given.machine, given.folder / f"{name}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
