"""Compares plans of the strategy `search`, and predictions of plans, with other plans on the clock.

search.py measure FOLDER [NAME...]   runs what FOLDER/NAME.json is missing
search.py clock FOLDER [NAME...]     search over the best other plan, and ranks of predictions
search.py bounds FOLDER [NAME...]    modelled cycles and misses: recorded, by the best plan, in the
                                     best order, and of all lines fetched once, without reuse

`bounds` scales predictions of a part of the accesses. Without names, the thirteen programs. Each is
recorded on its training input with an object trace. From it come all plans, their predictions and
the orders of `halo layout`. The plans run on the reference input over glibc, which is the allocator
of the predictions: interleaved, fresh processes, the first round dropped. `clock` ends with status
1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from configurations import make_configs
from everything import PROGRAMS
from evidence import halo as run_halo
from interleaved import measure

from halo.files.atomic import write_json
from halo.layouts.replays import ReplayOptions, replay
from halo.layouts.verdict import PACKING, judge
from halo.plan import Plan, read_plan
from halo.prediction.cost import modelled_cost
from halo.prediction.placement import NOWHERE, Placement, placement_of
from halo.prediction.predictor import Sample, predictor
from halo.process.allocators import baseline_allocators
from halo.profile import OBJECT_TRACE, Profile, read_profile
from halo.results.agreement import MIN_POINTS, rank_correlation
from halo.schema.layout import Replayed
from halo.schema.prediction import LoadedTrace, Predicted
from halo.settings import Settings, read_settings
from halo.simulation.cost import modelled_cycles
from halo.trials.bundled import find_bundled, prepare
from halo.trials.candidates import choose_variants, make_plans
from halo.trials.statistics import Ratio, ratio

NEXT = "glibc"
SEARCH = "search"
OTHERS = (
    "halo",
    "hot-cold",
    "size-affinity",
    "one-pool",
    "dense",
    "dense-by-size",
    "everything",
    "everything-by-size",
)
WHOLE = Sample(1 << 28)  # accesses
MIN_AGREEMENT = 0.85  # the mean of the programs' rank correlations
MIN_RATIO = 0.99  # of every program
CLEAR_RATIO, MIN_CLEAR = 1.05, 4  # of as many programs


class Measured(msgspec.Struct, frozen=True):
    """A program: times by plan, in seconds, and predictions for the training input.

    `search` is the label of the plan that the strategy found: another one's, if they are equal, or
    that of the next allocator, if it has no groups. `planned` is the time that it took, in seconds.
    """

    search: str
    planned: float
    trace: LoadedTrace
    seconds: Mapping[str, Sequence[float]]
    without: Predicted
    plans: Mapping[str, Predicted]
    replayed: Replayed

    def median(self, label: str) -> float:
        return statistics.median(self.seconds[label])

    @property
    def best_other(self) -> str:
        """The label of the fastest other plan, or of the next allocator without one."""
        return min((it for it in self.seconds if it != SEARCH), key=self.median)

    @property
    def over_others(self) -> Ratio:
        """Its time over that of the search's plan."""
        return ratio(self.seconds[self.best_other], self.seconds[self.search])

    @property
    def agreement(self) -> float | None:
        """The rank correlation of predictions and times; None if there are too few plans."""
        costs = {
            label: modelled_cost(self.trace, one)
            for label, one in {NEXT: self.without, **self.plans}.items()
        }
        if len(costs) < MIN_POINTS:
            return None
        return rank_correlation(list(costs.values()), [self.median(it) for it in costs])


def measure_program(settings: Settings, name: str, trials: int, folder: Path) -> Measured:
    bundled = find_bundled(settings, name)
    training, reference = prepare(settings, bundled)
    file, searched = folder / "program.profile", folder / f"{SEARCH}.plan"
    command = (str(training.target.path), *training.arguments)
    run_halo("record", "--objects", "-o", str(file), "--", *command, env=dict(bundled.env))
    profile = read_profile(file)
    plans = {it.label: plan for it, plan, _ in make_plans(profile, choose_variants(OTHERS), folder)}
    plans = {label: plan for label, plan in plans.items() if label in OTHERS}
    began = time.perf_counter()
    run_halo("plan", "--strategy", SEARCH, str(file), "-o", str(searched), env={})
    planned = time.perf_counter() - began
    label = same_plan(searched, plans)
    if label == SEARCH:
        plans[SEARCH] = searched
    trace = OBJECT_TRACE.of(profile)
    assert trace is not None
    found = [placed(read_plan(plan), profile) for plan in plans.values()]
    with predictor(settings, trace, WHOLE) as running:
        loaded = running.loaded
        without, *predicted = running.predict([NOWHERE, *found])
    replayed = replay(settings, Path(trace.file), ReplayOptions(packing=PACKING), folder)
    allocator = next(it for it in baseline_allocators() if it.name == NEXT)
    over = {it: (plan, allocator) for it, plan in plans.items()}
    configs = make_configs(settings, reference, bundled.env, [allocator], over)
    seconds = measure(configs, trials)
    by_plan = dict(zip(plans, predicted, strict=True))
    return Measured(label, planned, loaded, seconds, without, by_plan, replayed)


def placed(plan: Plan, profile: Profile) -> Placement:
    """The placement by a plan, all of which can be predicted here."""
    found = placement_of(plan, profile)
    assert found is not None
    return found


def same_plan(searched: Path, plans: Mapping[str, Path]) -> str:
    """The label of the plan that the search found."""
    if read_plan(searched).is_inert:
        return NEXT
    content = searched.read_bytes()
    return next((it for it, plan in plans.items() if plan.read_bytes() == content), SEARCH)


def clock(found: Mapping[str, Measured]) -> bool:
    """Prints a row for each program; whether all thresholds are met."""
    print("| Program | search, s | best other plan, s | ratio | its plan | planned in, s | ranks |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: |")
    for name, one in found.items():
        best, over, agreement = one.best_other, one.over_others, one.agreement
        print(
            f"| {name} | {one.median(one.search):.3f} | {best} {one.median(best):.3f} |"
            f" {over.value:.3f} ({over.low:.3f}-{over.high:.3f}) | {one.search} |"
            f" {one.planned:.0f} | {'-' if agreement is None else f'{agreement:.2f}'} |"
        )
    agreements = [one.agreement for one in found.values() if one.agreement is not None]
    mean = statistics.fmean(agreements) if agreements else 0.0
    ratios = [one.over_others.value for one in found.values()]
    clear = sum(value >= CLEAR_RATIO for value in ratios)
    print(f"\nMean rank correlation {mean:.2f}; {clear} of {len(ratios)} at {CLEAR_RATIO} or more.")
    return mean >= MIN_AGREEMENT and min(ratios) >= MIN_RATIO and clear >= MIN_CLEAR


def bounds(found: Mapping[str, Measured]) -> None:
    """Prints the rows of each program, in millions."""
    levels = list(next(iter(found.values())).without.misses)
    print(f"| Program | layout | cycles, M | {', M | '.join(levels)}, M |")
    print(f"| --- | --- |{' ---: |' * (1 + len(levels))}")
    for name, one in found.items():
        for layout, cycles, misses in layouts_of(one):
            figures = (f"{value / 1e6:.2f}" for value in (cycles, *(misses[it] for it in levels)))
            print(f"| {name} | {layout} | {' | '.join(figures)} |")


def layouts_of(one: Measured) -> Iterator[tuple[str, int, Mapping[str, int]]]:
    """What is compared: a description, modelled cycles, misses by level.

    Predictions of a part of the accesses are scaled up to all of them.
    """
    scale = one.trace.accesses / max(one.trace.kept, 1)
    label, plan = min(one.plans.items(), key=lambda it: it[1].cycles, default=(NEXT, one.without))
    for layout, predicted in (("recorded", one.without), (f"plan {label}", plan)):
        misses = {level: round(scale * count) for level, count in predicted.misses.items()}
        yield layout, round(scale * predicted.cycles), misses
    best = min((judge(one.replayed).usual, judge(one.replayed).best), key=lambda it: it.cycles)
    yield f"order {best.order}", best.cycles, best.misses
    lines, levels = one.replayed.min_lines, list(one.without.misses)
    tlbs = [it for it in levels if it.endswith("TLB")]
    caches = [it for it in levels if it not in tlbs]
    pages = -(-lines // 64)
    cycles = modelled_cycles(0, [lines] * len(caches), [pages] * len(tlbs))
    yield "each line once", cycles, {it: pages if it in tlbs else lines for it in levels}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "clock", "bounds"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    given = parser.parse_args()
    names = given.names or PROGRAMS
    files = {name: given.folder / f"{name}.json" for name in names}
    if given.what == "measure":
        settings = read_settings()
        for name, file in files.items():
            if not file.is_file():
                given.folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(prefix="halo-search-") as scratch:
                    write_json(measure_program(settings, name, given.trials, Path(scratch)), file)
        return 0
    found = {
        name: msgspec.json.decode(file.read_bytes(), type=Measured) for name, file in files.items()
    }
    if given.what == "clock":
        return 0 if clock(found) else 1
    bounds(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
