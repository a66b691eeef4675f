"""Measures how well the watch judges pages and predicts contexts: NightWatch's tables and figures.

watch_accuracy.py FOLDER [NAME...] --similar           figures 5 and 8: pages and contexts alike
watch_accuracy.py FOLDER [NAME...] --clock counters    figure 10: false judgements
watch_accuracy.py FOLDER [NAME...] --clock pages       the same without counters
watch_accuracy.py FOLDER [NAME...] --m0 first          with misses from the first reference on
watch_accuracy.py FOLDER [NAME...] --pages             figure 13: errors of page sampling
watch_accuracy.py FOLDER [NAME...] --prediction        table 2: success of predictions

First runs what FOLDER/NAME.json is missing, on the paper's machine. If there is a trace
FOLDER/NAME.objects, it is read instead. Prints a row for each program. Means are over the programs
that have what is measured. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from halo.base.settings import Settings, read_settings
from halo.measure.bundled import find_bundled, prepare
from halo.studies.pollution.locality.document import (
    Locality,
    RandomPages,
    SampledObjects,
    WatchCounts,
)
from halo.studies.pollution.locality.results import LocalProgram, read_localities
from halo.studies.pollution.locality.table import MAX_VARIANCE

MACHINE = "e7420"
DRAWS = 1_000_000
MIN_SAMPLES = 100
"""Judgements below which a program has no rate."""
PROGRAMS: dict[str, Sequence[str]] = {
    "hospital": (),
    "scene": (),
    "mst": ("100000", "300000", "1"),
    "mesh": ("300", "300", "1000000", "1"),
    "pagerank": ("60000", "600000", "4", "1"),
    "rbtree": (),
    "server": ("100000", "40000", "120000", "2", "1"),
    "frames": ("20", "2097152", "4194304", "100000", "1"),
    "sweep": ("1000000", "16", "1"),
    "jq": (),
    "sqlite3": (),
    "python3": (),
    "dot": (),
    "xsltproc": (),
}
"""Arguments; without them, the training input. Others are smaller ones, for shorter traces."""


@dataclass(frozen=True)
class Threshold:
    """A figure over the programs, and what it may be."""

    what: str
    found: float
    threshold: float
    at_most: bool
    shown: str = ".2%"

    @property
    def met(self) -> bool:
        return self.found <= self.threshold if self.at_most else self.found >= self.threshold

    def __str__(self) -> str:
        sign = "at most" if self.at_most else "at least"
        found, limit = format(self.found, self.shown), format(self.threshold, self.shown)
        return f"{'met' if self.met else 'MISSED'}: {self.what} {found}, {sign} {limit}"


@dataclass(frozen=True)
class Rows:
    """A table, and its thresholds."""

    titles: Sequence[str]
    cells: Sequence[Sequence[str]]
    thresholds: Sequence[Threshold]


def measure(settings: Settings, name: str, folder: Path, min_bytes: int) -> None:
    """One run, or one replay of its trace, and its result."""
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    command = [str(training.target.path), *(PROGRAMS[name] or training.arguments)]
    trace, result = folder / f"{name}.objects", folder / f"{name}.json"
    what = [str(trace)] if trace.is_file() else ["--", *command]
    options = ["--machine", MACHINE, "--draws", str(DRAWS)]
    if min_bytes:
        options += ["--min-bytes", str(min_bytes)]
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "halo", "locality", *options, "--json", str(result), *what],
        env={**os.environ, **bundled.env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if not result.is_file():
        sys.exit(f"halo study locality failed on {name}:\n{done.stderr.decode(errors='replace')}")


def similar(found: Sequence[LocalProgram]) -> Rows:
    """Pages within 0.1 of their object, and contexts whose objects vary (figures 5 and 8)."""
    near, varied, cells = [], [], []
    for one in found:
        it = one.found
        rated = [context for context in it.contexts if context.rated]
        several = sum(context.rated > 1 for context in rated)
        count = sum(context.variance > MAX_VARIANCE for context in rated)
        near.append(share(it.near_pages, it.pages))
        varied.append(share(count, len(rated)))
        pages = [f"{it.pages:,}", percent(near[-1])]
        sure = [f"{it.sure_pages:,}", percent(share(it.near_sure_pages, it.sure_pages))]
        numbers = [f"{len(rated):,}", f"{several:,}", f"{count:,}"]
        cells.append([one.program, *pages, *sure, *numbers])
    thresholds = [
        Threshold("pages within 0.1 of their object", average(near), 0.98, at_most=False),
        Threshold("contexts with variance above 0.1", average(varied), 0.05, at_most=True),
    ]
    titles = ["pages", "within 0.1", "with 100 accesses", "within 0.1"]
    more = ["contexts", "with several", "variance > 0.1"]
    return Rows(["Program", *titles, *more], cells, thresholds)


def judged(
    counts: Callable[[Locality], WatchCounts],
    most: float,
    worst: float | None,
    max_false_misses: float,
) -> Callable[[Sequence[LocalProgram]], Rows]:
    """False judgements of the pages of random accesses (figure 10)."""

    def rows(found: Sequence[LocalProgram]) -> Rows:
        cells, rates, false_misses = [], {}, {}
        for one in found:
            made = counts(one.found)
            wrong, misses, own = false_rate(made), share_of_false_misses(made), one.found.every
            rates[one.program], false_misses[one.program] = wrong, misses
            cells.append(
                [
                    one.program,
                    f"{made.samples:,}",
                    percent(share(made.misses, made.samples)),
                    percent(wrong),
                    percent(misses, 3),
                    percent(found_misses(made)),
                    f"{own.samples:,}",
                    percent(false_rate(own)),
                ]
            )
        thresholds = [
            Threshold("mean false rate", average(rates.values()), most, at_most=True),
            Threshold(
                "worst hits taken for misses",
                largest(false_misses.values()),
                max_false_misses,
                True,
            ),
        ]
        if worst is not None:
            thresholds.append(
                Threshold("worst false rate", largest(rates.values()), worst, at_most=True)
            )
        titles = ["judgements", "misses", "false", "hits taken for misses", "misses found"]
        titles = ["Program", *titles, "of every object", "false"]
        return Rows(titles, cells, thresholds)

    return rows


def first_reference(found: Sequence[LocalProgram]) -> Rows:
    """Hits taken for misses with misses from the first reference on, and from the arming on."""
    cells, sums = [], [0, 0]
    for one in found:
        first, armed = drawn(one.found).first, drawn(one.found).counters
        sums = [sums[0] + first.false_misses, sums[1] + armed.false_misses]
        counts = (first.samples, first.false_misses, armed.false_misses)
        rates = (false_rate(first), false_rate(armed))
        cells.append([one.program, *(f"{it:,}" for it in counts), *(percent(it) for it in rates)])
    chance = chance_of(*sums)
    thresholds = [
        Threshold(f"chance of {sums[0]} and {sums[1]} hits if alike", chance, 0.05, at_most=True)
    ]
    hits = ["hits taken for misses, first", "armed"]
    return Rows(["Program", "judgements", *hits, "false, first", "armed"], cells, thresholds)


def chance_of(more: int, less: int) -> float:
    """That at least `more` of all are on one of two sides that are equally likely."""
    total_ = more + less
    ways = sum(math.comb(total_, count) for count in range(more, total_ + 1))
    return float(ways / 2**total_)


def sampled_pages(found: Sequence[LocalProgram]) -> Rows:
    """Errors of page sampling, and the exponent of the least number of pages (figure 13)."""
    cells, objects, within = [], 0, 0
    for one in found:
        count = sum(it.objects for it in one.found.sampling)
        good = sum(it.within for it in one.found.sampling)
        objects, within = objects + count, within + good
        cells.append([one.program, f"{count:,}", percent(share(good, count))])
    intervals = [total(at) for at in zip(*(one.found.sampling for one in found), strict=True)]
    fitted = exponent([one for one in intervals if one.objects])
    cells.append(["all", f"{objects:,}", percent(share(within, objects))])
    print(f"exponent of the least sampled pages: {fitted:.2f} (paper 0.65)\n")
    good_share = share(within, objects)
    thresholds = [
        Threshold("objects within 5% of their rate", good_share or 0.0, 0.95, at_most=False)
    ]
    return Rows(["Program", "objects of several pages", "within 5%"], cells, thresholds)


def predictions(found: Sequence[LocalProgram]) -> Rows:
    """Objects that have the mapping of the watch of every object (table 2).

    Also those whose context had two known objects, and the mappings of the classes that the run
    has learnt at its end.
    """
    cells, rates = [], []
    for one in found:
        it = one.found
        right, learnt = share(it.right, it.predicted), share(it.learnt_right, it.predicted)
        rates += [right] if right is not None else []
        numbers = [f"{it.predicted:,}", percent(share(it.polluters, it.predicted)), percent(right)]
        known = [f"{it.known:,}", percent(share(it.known_right, it.known))]
        cells.append([one.program, *numbers, *known, percent(learnt)])
    perfect = sum(rate >= 0.99 for rate in rates) / max(1, len(rates))
    thresholds = [
        Threshold("mean success", average(rates), 0.955, at_most=False),
        Threshold("programs of at least 99%", perfect, 0.56, at_most=False),
        Threshold("worst success", min(rates, default=0.0), 0.9, at_most=False),
    ]
    known_titles = ["with known predecessors", "right", "right with learnt classes"]
    return Rows(["Program", "predictions", "polluters", "right", *known_titles], cells, thresholds)


def false_rate(made: WatchCounts) -> float | None:
    return share(made.false_hits + made.false_misses, made.samples, MIN_SAMPLES)


def found_misses(made: WatchCounts) -> float | None:
    """Of the pairs that are misses by their distance, the share that was judged so."""
    right = made.misses - made.false_misses
    return share(right, right + made.false_hits)


def share_of_false_misses(made: WatchCounts) -> float | None:
    return share(made.false_misses, made.samples, MIN_SAMPLES)


def share(part: int, whole: int, least: int = 1) -> float | None:
    """None of fewer than `least`."""
    return part / whole if whole >= least else None


def percent(rate: float | None, digits: int = 1) -> str:
    return "-" if rate is None else f"{100 * rate:.{digits}f}%"


def average(rates: Iterable[float | None]) -> float:
    """Of the known ones."""
    return mean([rate for rate in rates if rate is not None] or [math.nan])


def largest(rates: Iterable[float | None]) -> float:
    """Of the known ones."""
    return max((rate for rate in rates if rate is not None), default=math.nan)


def drawn(found: Locality) -> RandomPages:
    """The judgements of random accesses."""
    if found.random is None:
        sys.exit("A result is without --draws; remove it, so that it is measured again.")
    return found.random


def total(parts: Sequence[SampledObjects]) -> SampledObjects:
    return SampledObjects(
        objects=sum(one.objects for one in parts),
        pages=sum(one.pages for one in parts),
        within=sum(one.within for one in parts),
        needed=sum(one.needed for one in parts),
    )


def exponent(intervals: Sequence[SampledObjects]) -> float:
    """Slope of the least sampled pages over pages, both averages of an interval, in logarithms."""
    points = [
        (math.log(one.pages / one.objects), math.log(one.needed / one.objects)) for one in intervals
    ]
    if len(points) < 2:
        return math.nan
    centre = mean(x for x, _ in points), mean(y for _, y in points)
    spread = sum((x - centre[0]) ** 2 for x, _ in points)
    return sum((x - centre[0]) * (y - centre[1]) for x, y in points) / spread


def show(rows: Rows) -> bool:
    print(f"| {' | '.join(rows.titles)} |")
    print(f"| --- |{' ---: |' * (len(rows.titles) - 1)}")
    for cells in rows.cells:
        print(f"| {' | '.join(cells)} |")
    print()
    for one in rows.thresholds:
        print(one)
    return all(one.met for one in rows.thresholds)


def table_of(given: argparse.Namespace) -> Callable[[Sequence[LocalProgram]], Rows]:
    if given.similar:
        return similar
    if given.pages:
        return sampled_pages
    if given.prediction:
        return predictions
    if given.m0:
        return first_reference
    if given.clock == "pages":
        return judged(lambda found: drawn(found).pages, 0.10, None, 0.01)
    return judged(lambda found: drawn(found).counters, 0.06, 0.15, 0.005)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--min-bytes", type=int, default=0, help="for what is missing")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--similar", action="store_true")
    what.add_argument("--clock", choices=("counters", "pages"))
    what.add_argument("--m0", choices=("first",))
    what.add_argument("--pages", action="store_true")
    what.add_argument("--prediction", action="store_true")
    given = parser.parse_args()
    settings, names = read_settings(), given.names or list(PROGRAMS)
    for name in names:
        if not (given.folder / f"{name}.json").is_file():
            measure(settings, name, given.folder, given.min_bytes)
    found = read_localities([given.folder / f"{name}.json" for name in names])
    return 0 if show(table_of(given)(found)) else 1


if __name__ == "__main__":
    sys.exit(main())
