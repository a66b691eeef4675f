"""Compares plans of the strategy `search`, and predictions of plans, with other plans on the clock.

search.py plan FOLDER [NAME...]      makes the plans and predictions that FOLDER/NAME is missing
search.py measure FOLDER [NAME...]   measures the times that FOLDER/NAME.json is missing
search.py clock FOLDER [NAME...]     search over the best other plan, and ranks of predictions
search.py bounds FOLDER [NAME...]    modelled cycles and misses: recorded, by the best plan, in the
                                     best order, and of all lines fetched once, without reuse

`bounds` scales predictions of a part of the accesses. Without names, the thirteen programs. Each is
recorded on its training input with an object trace. From it come all plans, their predictions and
the orders of `halo study layout`. As in `halo run`, the five best of the search are raced on the
training input. The one with the least modelled cost is taken, or the fastest if that is
clearly faster: the interval of their ratio does not reach 1. Both, and the other strategies' plans,
run on the reference input over glibc, which is the allocator of the predictions: interleaved, fresh
processes, the first round dropped. `clock` ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from configurations import make_configs
from everything import PROGRAMS
from evidence import halo as run_halo
from interleaved import measure

from halo.base.files.atomic import write_json
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators
from halo.measure.bundled import find_bundled, prepare
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import choose_variants
from halo.measure.runs.job import Job
from halo.measure.statistics import Ratio, ratio
from halo.plan import Plan, read_plan
from halo.record.profile import OBJECT_TRACE, Profile, read_profile
from halo.record.simulation.cost import modelled_cycles
from halo.report.results.agreement import MIN_POINTS, rank_correlation
from halo.studies.layouts.document import Replayed
from halo.studies.layouts.replays import ReplayOptions, replay
from halo.studies.layouts.verdict import PACKING, judge
from halo.studies.search.cost import modelled_cost
from halo.studies.search.document import LoadedTrace, Predicted
from halo.studies.search.placement import NOWHERE, Placement, placement_of
from halo.studies.search.predictor import Sample, predictor

NEXT = "glibc"
SEARCH = "search"
PREDICTIONS = "predictions.json"
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


class Planned(msgspec.Struct, frozen=True):
    """A program's predictions, for the training input.

    `labels` are those of the search's plans, by rank: of another plan, if they are equal. `planned`
    is the time of the search, in seconds.
    """

    labels: Sequence[str]
    planned: float
    trace: LoadedTrace
    without: Predicted
    plans: Mapping[str, Predicted]
    replayed: Replayed


class Measured(msgspec.Struct, frozen=True):
    """A program's times by plan, in seconds: on the training input, and on the reference input.

    `modelled` is the label of the search's plan with the least modelled cost. `search` is the same,
    or the fastest of its plans on the training input, if that is clearly faster. Without plans,
    both are that of the next allocator.
    """

    made: Planned
    race: Mapping[str, Sequence[float]]
    seconds: Mapping[str, Sequence[float]]

    @property
    def search(self) -> str:
        first = fastest(self.race)
        is_clear = ratio(self.race[self.modelled], self.race[first]).low > 1
        return first if is_clear else self.modelled

    @property
    def modelled(self) -> str:
        return next(iter(self.made.labels), NEXT)

    def median(self, label: str) -> float:
        return statistics.median(self.seconds[label])

    @property
    def best_other(self) -> str:
        """The label of the fastest other plan, or of the next allocator without one."""
        others = {it: times for it, times in self.seconds.items() if not it.startswith(SEARCH)}
        return fastest(others)

    def over_others(self, label: str) -> Ratio:
        """Its time over that of a plan of the search."""
        return ratio(self.seconds[self.best_other], self.seconds[label])

    @property
    def agreement(self) -> float | None:
        """The rank correlation of predictions and times; None if there are too few plans."""
        costs = {
            label: modelled_cost(self.made.trace, one)
            for label, one in {NEXT: self.made.without, **self.made.plans}.items()
            if label in self.seconds
        }
        if len(costs) < MIN_POINTS:
            return None
        return rank_correlation(list(costs.values()), [self.median(it) for it in costs])


def fastest(seconds: Mapping[str, Sequence[float]]) -> str:
    return min(seconds, key=lambda label: statistics.median(seconds[label]))


def plan_program(settings: Settings, name: str, folder: Path) -> Planned:
    """Writes the plans of a program to the folder, as LABEL.plan."""
    bundled = find_bundled(settings, name)
    training, _ = prepare(settings, bundled)
    with tempfile.TemporaryDirectory(prefix="halo-search-") as scratch:
        file = Path(scratch) / "program.profile"
        command = (str(training.target.path), *training.arguments)
        run_halo("record", "--objects", "-o", str(file), "--", *command, env=dict(bundled.env))
        profile = read_profile(file)
        variants = choose_variants(OTHERS)
        others = {it.label for it, _, _ in make_plans(profile, variants, folder)} & set(OTHERS)
        began = time.perf_counter()
        found = [it.label for it, _, _ in make_plans(profile, choose_variants([SEARCH]), folder)]
        planned = time.perf_counter() - began
        labels = [same_plan(folder, label, others) for label in found]
        plans = [*others, *(it for it in labels if it not in others)]
        trace = OBJECT_TRACE.of(profile)
        assert trace is not None
        places = [placed(read_plan(plan_of(folder, it)), profile) for it in plans]
        with predictor(settings, trace, WHOLE) as running:
            loaded = running.loaded
            without, *predicted = running.predict([NOWHERE, *places])
        replayed = replay(settings, Path(trace.file), ReplayOptions(packing=PACKING), Path(scratch))
    by_plan = dict(zip(plans, predicted, strict=True))
    return Planned(labels, planned, loaded, without, by_plan, replayed)


def plan_of(folder: Path, label: str) -> Path:
    return folder / f"{label}.plan"


def same_plan(folder: Path, label: str, others: Iterable[str]) -> str:
    """The label of an equal plan among the others, or its own."""
    content = plan_of(folder, label).read_bytes()
    return next((it for it in others if plan_of(folder, it).read_bytes() == content), label)


def measure_program(settings: Settings, name: str, trials: int, folder: Path) -> Measured:
    made = msgspec.json.decode((folder / PREDICTIONS).read_bytes(), type=Planned)
    bundled = find_bundled(settings, name)
    training, reference = prepare(settings, bundled)
    allocator = next(it for it in baseline_allocators() if it.name == NEXT)

    def times(job: Job, labels: Iterable[str]) -> Mapping[str, Sequence[float]]:
        plans = {it: (plan_of(folder, it), allocator) for it in labels}
        return measure(make_configs(settings, job, bundled.env, [allocator], plans), trials)

    race = times(training, made.labels)
    others = [it for it in made.plans if not it.startswith(SEARCH)]
    mine = {fastest(race), *made.labels[:1]} - {NEXT}
    return Measured(made, race, times(reference, dict.fromkeys([*others, *sorted(mine)])))


def placed(plan: Plan, profile: Profile) -> Placement:
    """The placement by a plan, all of which can be predicted here."""
    found = placement_of(plan, profile)
    assert found is not None
    return found


def clock(found: Mapping[str, Measured]) -> bool:
    """Prints a row for each program; whether all thresholds are met."""
    print(
        "| Program | search, s | best other plan, s | ratio | its plan | least modelled | ratio"
        " | planned in, s | ranks |"
    )
    print("| --- | ---: | ---: | ---: | --- | --- | ---: | ---: | ---: |")
    for name, one in found.items():
        best, agreement = one.best_other, one.agreement
        print(
            f"| {name} | {one.median(one.search):.3f} | {best} {one.median(best):.3f} |"
            f" {said(one.over_others(one.search))} | {one.search} | {one.modelled} |"
            f" {said(one.over_others(one.modelled))} | {one.made.planned:.0f} |"
            f" {'-' if agreement is None else f'{agreement:.2f}'} |"
        )
    agreements = [one.agreement for one in found.values() if one.agreement is not None]
    mean = statistics.fmean(agreements) if agreements else 0.0
    ratios = [one.over_others(one.search).value for one in found.values()]
    clear = sum(value >= CLEAR_RATIO for value in ratios)
    print(f"\nMean rank correlation {mean:.2f}; {clear} of {len(ratios)} at {CLEAR_RATIO} or more.")
    return mean >= MIN_AGREEMENT and min(ratios) >= MIN_RATIO and clear >= MIN_CLEAR


def said(one: Ratio) -> str:
    return f"{one.value:.3f} ({one.low:.3f}-{one.high:.3f})"


def bounds(found: Mapping[str, Measured]) -> None:
    """Prints the rows of each program, in millions."""
    levels = list(next(iter(found.values())).made.without.misses)
    print(f"| Program | layout | cycles, M | {', M | '.join(levels)}, M |")
    print(f"| --- | --- |{' ---: |' * (1 + len(levels))}")
    for name, one in found.items():
        for layout, cycles, misses in layouts_of(one.made):
            figures = (f"{value / 1e6:.2f}" for value in (cycles, *(misses[it] for it in levels)))
            print(f"| {name} | {layout} | {' | '.join(figures)} |")


def layouts_of(one: Planned) -> Iterator[tuple[str, int, Mapping[str, int]]]:
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
    parser.add_argument("what", choices=("plan", "measure", "clock", "bounds"))
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    given = parser.parse_args()
    names = given.names or PROGRAMS
    files = {name: given.folder / f"{name}.json" for name in names}
    if given.what == "plan":
        for name in names:
            folder = given.folder / name
            if not (folder / PREDICTIONS).is_file():
                folder.mkdir(parents=True, exist_ok=True)
                write_json(plan_program(read_settings(), name, folder), folder / PREDICTIONS)
        return 0
    if given.what == "measure":
        for name, file in files.items():
            if not file.is_file():
                found_here = measure_program(
                    read_settings(), name, given.trials, file.parent / name
                )
                write_json(found_here, file)
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
