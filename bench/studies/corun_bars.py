"""Prints the figures of programs on one last-level cache, and whether they reach the bars.

corun_bars.py [--classes NAME] FILE...: documents of `halo study corun --json`. Exit status 1 if
a figure does not reach its bar, 2 if none of the documents has it. The bars are those of
NightWatch's table 1 and figures 11 and 12, with classes NAME (default: online).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from halo.studies.pollution.corun.categories import NEUTRAL, POLLUTER, VICTIM
from halo.studies.pollution.corun.document import CorunDocument, Mix
from halo.studies.pollution.corun.speedups import OPEN, middle, summarise

MAIN = "polluter-victim"
OTHERS = ("all-polluter", "all-victim", "all-neutral", "polluter-neutral", "victim-neutral")
MIN_OF_CATEGORY, MIN_MIXES = 3, 6
MIN_VICTIMS, MIN_BEST, MIN_POLLUTER = 1.18, 1.45, 0.98
UNCHANGED = (0.98, 1.02)
MIN_SHARE_OF_EXACT = 0.9

Finding = tuple[str, str, bool | None]  # what, figure, whether it reaches the bar; None: missing


def categories(documents: list[CorunDocument]) -> Iterator[Finding]:
    found = {one.name: one.category for document in documents for one in document.programs}
    counts = Counter(found.values())
    for name in (POLLUTER, VICTIM, NEUTRAL):
        enough = counts[name] >= MIN_OF_CATEGORY
        yield f"{name} programs", f"{counts[name]}, at least {MIN_OF_CATEGORY}", enough


def victims(mixes: list[Mix], classes: str) -> list[float]:
    """Medians of the victims of the main kind, by mix."""
    chosen = (mix for mix in mixes if mix.kind == MAIN and mix.classes == classes)
    return [middle(it) for mix in chosen for it in mix.programs if it.role == VICTIM]


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def main_kind(mixes: list[Mix], classes: str) -> Iterator[Finding]:
    for one in summarise(mix for mix in mixes if mix.kind == MAIN and mix.classes == classes):
        yield "mixes", f"{one.mixes}, at least {MIN_MIXES}", one.mixes >= MIN_MIXES
        victim = f"{one.victims:.3f}, at least {MIN_VICTIMS}"
        yield "mean of victims", victim, one.victims >= MIN_VICTIMS
        yield "best victim", f"{one.best:.3f}, at least {MIN_BEST}", one.best >= MIN_BEST
        polluter = f"{one.worst_polluter:.3f}, at least {MIN_POLLUTER}"
        yield "worst polluter", polluter, one.worst_polluter >= MIN_POLLUTER


def other_kinds(mixes: list[Mix], classes: str) -> Iterator[Finding]:
    summaries = {one.kind: one for one in summarise(m for m in mixes if m.classes == classes)}
    for kind in OTHERS:
        if (one := summaries.get(kind)) is None:
            yield kind, "not run", None
            continue
        inside = UNCHANGED[0] <= one.least and one.most <= UNCHANGED[1]
        yield kind, f"{one.least:.3f} to {one.most:.3f}, within {UNCHANGED}", inside


def controls(mixes: list[Mix], classes: str) -> Iterator[Finding]:
    names = {mix.name for mix in mixes if mix.kind == MAIN and mix.classes == "exact"}
    both = [mix for mix in mixes if mix.name in names]
    if names:
        share = (mean(victims(both, classes)) - 1) / (mean(victims(both, "exact")) - 1)
        figure = f"{share:.0%} of the gain of exact classes, at least {MIN_SHARE_OF_EXACT:.0%}"
        yield classes, figure, share >= MIN_SHARE_OF_EXACT
    for name in ("random", "confined"):
        if found := victims(mixes, name):
            yield f"{name}, victims", f"{mean(found):.3f}, less than 1", mean(found) < 1
        else:
            yield name, "not run", None
    found = [
        value for m in mixes if m.classes == OPEN for it in m.programs for value in it.speedups
    ]
    yield "all open", f"{min(found):.3f} to {max(found):.3f}, 1.000", set(found) == {1.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", default="online")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    documents = [
        msgspec.json.decode(path.read_bytes(), type=CorunDocument) for path in options.files
    ]
    mixes = [mix for document in documents for mix in document.mixes]
    findings = list(categories(documents))
    if mixes:
        findings += main_kind(mixes, options.classes)
        findings += other_kinds(mixes, options.classes)
        findings += controls(mixes, options.classes)
    for what, figure, reached in findings:
        verdict = "not run" if reached is None else "reached" if reached else "NOT REACHED"
        print(f"{what:24} {figure:60} {verdict}")
    if any(reached is False for _, _, reached in findings):
        return 1
    return 2 if any(reached is None for _, _, reached in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
