"""Replays seven programs with their objects in other orders, on the machine of Miucin's thesis.

thesis_layouts.py replay FOLDER [NAME...]   runs what FOLDER/NAME.json and NAME.phase.json lack
thesis_layouts.py table FOLDER [NAME...]    prints a row for each program and order

Figures are misses relative to the recorded layout, with memory reused. Names and inputs are in
traced_programs.py. Ends with status 1 if the hierarchical layout has more misses of the last cache
or of the TLB than recorded in any program, or fewer by a fifth at some level in less than five; if
one of MAX_RATIOS is exceeded; or if the order `random` is not worse than recorded on `mesh`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.studies.traced_programs import PROGRAMS, Traced, write_inputs
from halo.base.settings import Settings, read_settings
from halo.studies.layouts.document import LayoutDocument, ReplayedLayout
from halo.studies.layouts.verdict import AS_RECORDED, judge

MACHINE = "miucin"
PACKING = "reuse"
HML = "hml"
ALIKE = "allocation-order"
"""The order of an allocator that is packed like the others."""
LEVELS = ("L1D", "L2", "L3", "DTLB")
MAX_RATIOS = {
    ("rbtree", "DTLB"): 0.49,
    ("mesh, traversal", "L2"): 0.4,
    ("mesh, traversal", "DTLB"): 0.3,
}
"""Of misses with the hierarchical layout; the first is the thesis's own figure."""
CLEARLY_LESS = 0.8
MIN_HELPED = 5


def replay(settings: Settings, traced: Traced, options: Sequence[str], file: Path) -> None:
    """One traced run; its trace is removed."""
    with tempfile.TemporaryDirectory(prefix="halo-layouts-") as scratch:
        folder = Path(scratch)
        write_inputs(folder)
        result = folder / "result.json"
        given = ["--machine", MACHINE, "--quick", *options, "--json", str(result)]
        program = traced.command(settings, folder)
        done = subprocess.run(
            [sys.executable, "-m", "halo", "study", "layout", *given, "--", *program],
            input=traced.stdin.encode(),
            cwd=folder,
            capture_output=True,
            check=False,
        )
        if not result.is_file():
            said = done.stderr.decode(errors="replace")
            sys.exit(f"halo study layout failed on {traced.program}:\n{said}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(result.read_bytes())


def replay_missing(settings: Settings, names: Sequence[str], folder: Path) -> None:
    for name in names:
        traced = PROGRAMS[name]
        runs: dict[Path, tuple[str, ...]] = {folder / f"{name}.json": ()}
        if traced.phase:
            runs[folder / f"{name}.phase.json"] = traced.phase
        for file, options in runs.items():
            if not file.is_file():
                replay(settings, traced, options, file)
                print(f"{file} written", flush=True)


def packed(document: LayoutDocument) -> list[ReplayedLayout]:
    """The orders with memory reused."""
    return [one for one in document.replayed.replays if one.packing == PACKING]


def relative(document: LayoutDocument, one: ReplayedLayout) -> dict[str, float]:
    """Misses by level, relative to those recorded."""
    recorded = document.replayed.replays[0]
    return {level: one.misses[level] / max(1, recorded.misses[level]) for level in LEVELS}


def rows(name: str, document: LayoutDocument) -> list[str]:
    """One for each order."""
    recorded = document.replayed.replays[0]
    found = []
    for one in packed(document):
        figures = [one.cycles / max(1, recorded.cycles), *relative(document, one).values()]
        found.append(f"| {name} | {one.order} | {' | '.join(f'{at:.2f}' for at in figures)} |")
    return found


def verdict(name: str, document: LayoutDocument) -> str:
    found, replayed = judge(document.replayed), document.replayed
    count = f"{replayed.replays[0].accesses / 1e6:.1f} M"
    gain = f"{found.best.order} saves {max(0.0, found.gain):.0%} over {found.usual.order}"
    return f"| {name} | {replayed.objects:,} | {count} | {gain} |"


def compare(documents: dict[str, LayoutDocument], baseline: str) -> bool:
    """Prints where the hierarchical layout has more or clearly fewer misses than another order.

    Returns whether it never has more at the last cache and the TLB, and clearly fewer in enough.
    """
    worse, helped = [], []
    for name, document in documents.items():
        misses = {one.order: one.misses for one in packed(document)}
        usual = misses.get(baseline, document.replayed.replays[0].misses)
        ratios = {level: misses[HML][level] / max(1, usual[level]) for level in LEVELS}
        worse += [f"{name} ({level})" for level in ("L3", "DTLB") if ratios[level] > 1]
        helped += [name] if min(ratios.values()) <= CLEARLY_LESS else []
    print(f"\n{HML} against {baseline}. A fifth less at some level: {', '.join(helped) or 'none'}.")
    print(f"More misses: {', '.join(worse) or 'none'}.")
    return not worse and len(helped) >= min(MIN_HELPED, len(documents))


def table(folder: Path, names: Sequence[str]) -> bool:
    def load(stem: str) -> LayoutDocument:
        return msgspec.json.decode((folder / f"{stem}.json").read_bytes(), type=LayoutDocument)

    whole = {name: load(name) for name in names}
    phases = {f"{name}, traversal": load(f"{name}.phase") for name in names if PROGRAMS[name].phase}
    everything = whole | phases
    print("| Program | objects | accesses | best order |\n| --- | ---: | ---: | --- |")
    for name in everything:
        print(verdict(name, everything[name]))
    print(f"\n| Program | order | cycles | {' | '.join(LEVELS)} |")
    print(f"| --- | --- |{' ---: |' * (1 + len(LEVELS))}")
    for name in everything:
        print("\n".join(rows(name, everything[name])))
    compare(everything, ALIKE)
    met = compare(whole, AS_RECORDED)
    for (name, level), maximum in MAX_RATIOS.items():
        if name in everything:
            found = ratio(everything[name], HML, level)
            met &= found <= maximum
            print(f"{name}, {level}: {found:.2f} of at most {maximum}.")
    if "mesh" in whole:
        met &= ratio(whole["mesh"], "random", "L2") > 1
    return met


def ratio(document: LayoutDocument, order: str, level: str) -> float:
    """The misses of an order at a level, relative to those recorded."""
    return relative(document, next(one for one in packed(document) if one.order == order))[level]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("replay", "table"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    names = given.names or list(PROGRAMS)
    if given.what == "table":
        return 0 if table(given.folder, names) else 1
    replay_missing(read_settings(), names, given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
