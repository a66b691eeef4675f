"""Compares plans from recordings in bursts with plans from exact ones, on the bundled programs.

bursts.py [NAME...] [--trials N] [--engine NAME] [--recordings N]

Each program is recorded both ways on its training input, in bursts as often as --recordings says:
the lowest agreement counts, and the last recording makes the plans. Engines differ in where stacks
begin, so up to MAX_OUTER outermost frames may be missing. Agreement is a share of all pairs of
contexts, weighted with both contexts' accesses: those that share a group in both groupings, or in
neither. A context and itself are a pair, too, which shares a group if the context is grouped. The
candidate that is fastest on the training input, among those made from the exact profile that differ
in their groups, is made from both profiles. These two plans run on the reference input:
interleaved, fresh processes, the first round dropped. Plans of the same bytes are not run, as their
times can differ by noise alone. Ends with status 1 if a threshold is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.shared.configurations import make_configs
from bench.shared.halo_runs import run_halo
from bench.shared.interleaved import measure
from bench.studies.everything import PROGRAMS, fastest
from halo.base.settings import Settings, read_settings
from halo.binary.process.allocators import baseline_allocators
from halo.measure.bundled import find_bundled, prepare
from halo.measure.candidates import make_plans
from halo.measure.deep.choice import choose_variants
from halo.measure.statistics import Ratio, ratio
from halo.plan.strategies.factory import make_grouping
from halo.record.profile import Profile, read_profile

LABELS = ("halo", "hot-cold", "size-affinity", "one-pool", "dense", "dense-by-size")
EXACT, BURSTS = "exact", "bursts"
MIN_AGREEMENT = 0.95
MAX_DIFFERENCE = 0.02  # of the plans' times
NO_GROUP = -1
MAX_OUTER = 4
Stack = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Result:
    """A program's kept variant, the agreement of each variant, and exact time over bursts'.

    There are no times if both plans have the same bytes.
    """

    program: str
    variant: str
    alike: Mapping[str, float]
    times: Ratio | None

    @property
    def lowest(self) -> str:
        """The variant whose agreement is lowest, the first one if several are."""
        return min(self.alike, key=lambda label: self.alike[label])

    @property
    def met(self) -> bool:
        slower = 1 - self.times.value if self.times else 0.0
        return self.alike[self.lowest] >= MIN_AGREEMENT and slower <= MAX_DIFFERENCE


def stack_of(profile: Profile, context: int) -> Stack:
    """The frames, innermost first, each by its module's build-id and its offset."""
    frames = (profile.frames[at] for at in profile.stack(context))
    return tuple((profile.modules[it.module].build_id, it.offset) for it in frames)


def without_outermost(stack: Stack) -> Iterator[Stack]:
    """The stack, and without its outermost frames, one after the other."""
    for count in range(min(MAX_OUTER, len(stack) - 1) + 1):
        yield stack[: len(stack) - count]


def groups_by_stack(profile: Profile, strategy: str) -> Mapping[Stack, int]:
    """The index of the group of each context, by its stack; NO_GROUP if it has none."""
    labels = make_grouping(profile, strategy).labels(len(profile.contexts), NO_GROUP)
    stacks = [stack_of(profile, at) for at in range(len(labels))]
    found = dict(zip(stacks, labels, strict=True))
    for whole, label in zip(stacks, labels, strict=True):
        for stack in without_outermost(whole):
            found.setdefault(stack, label)
    return found


def share_alike(contexts: Sequence[tuple[int, int, int]]) -> float:
    """The share of pairs alike, of (group in one grouping, group in the other, accesses)."""
    both: Counter[tuple[int, int]] = Counter()
    first: Counter[int] = Counter()
    second: Counter[int] = Counter()
    for one, other, accesses in contexts:
        both[one, other] += accesses
        first[one] += accesses
        second[other] += accesses
    in_first = sum(n * n for label, n in first.items() if label != NO_GROUP)
    in_second = sum(n * n for label, n in second.items() if label != NO_GROUP)
    in_both = sum(n * n for labels, n in both.items() if NO_GROUP not in labels)
    pairs = sum(both.values()) ** 2
    return 1 - (in_first + in_second - 2 * in_both) / pairs if pairs else 1.0


def agreement(strategy: str, exact: Profile, bursts: Profile) -> float:
    """The agreement of the strategy's groups, weighted by the exact counts of accesses."""
    labels = make_grouping(exact, strategy).labels(len(exact.contexts), NO_GROUP)
    groups = groups_by_stack(bursts, strategy)

    def group_of(context: int) -> int:
        stacks = without_outermost(stack_of(exact, context))
        return next((groups[stack] for stack in stacks if stack in groups), NO_GROUP)

    return share_alike(
        [(labels[at], group_of(at), it.accesses) for at, it in enumerate(exact.contexts)]
    )


def run_program(settings: Settings, name: str, given: argparse.Namespace, folder: Path) -> Result:
    bundled = find_bundled(settings, name)
    training, reference = prepare(settings, bundled)
    command = (str(training.target.path), *training.arguments)

    def recorded(*options: str) -> Profile:
        path = folder / "program.profile"
        run_halo("record", *options, "-o", str(path), "--", *command, env=dict(bundled.env))
        return read_profile(path)

    profiles = {EXACT: recorded("--exact")}
    variants = [it for it in choose_variants(LABELS) if it.label in LABELS]
    alike = {it.label: 1.0 for it in variants}
    for _ in range(given.recordings):
        profiles[BURSTS] = recorded("--engine", given.engine)
        for it in variants:
            found = agreement(it.strategy, profiles[EXACT], profiles[BURSTS])
            alike[it.label] = min(alike[it.label], found)
    allocators = baseline_allocators()
    alone = measure(make_configs(settings, training, bundled.env, allocators, {}), given.training)
    best = next(it for it in allocators if it.name == fastest(alone))
    plans = {}
    for way in (EXACT, BURSTS):
        place = folder / way
        place.mkdir()
        plans[way] = {it.label: plan for it, plan, _ in make_plans(profiles[way], variants, place)}
    over = {label: (plan, best) for label, plan in plans[EXACT].items() if label in plans[BURSTS]}
    raced = measure(make_configs(settings, training, bundled.env, (), over), given.training)
    kept = fastest(raced)
    both = {way: (plans[way][kept], best) for way in (EXACT, BURSTS)}
    times = None
    if len({plan.read_bytes() for plan, _ in both.values()}) == len(both):
        seconds = measure(make_configs(settings, reference, bundled.env, (), both), given.trials)
        times = ratio(seconds[EXACT], seconds[BURSTS])
    return Result(name, kept, alike, times)


def as_row(it: Result) -> str:
    times = "same plan"
    if it.times:
        times = f"{it.times.value:.3f} ({it.times.low:.3f}–{it.times.high:.3f})"
    lowest = f"{it.alike[it.lowest]:.3f} ({it.lowest})"
    return f"| {it.program} | {it.variant} | {it.alike[it.variant]:.3f} | {lowest} | {times} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trials", type=int, default=11, help="on the reference input")
    parser.add_argument("--training", type=int, default=3, help="trials on the training input")
    parser.add_argument("--engine", default="native", help="that records bursts (default native)")
    parser.add_argument("--recordings", type=int, default=10, help="in bursts (default 10)")
    given = parser.parse_args(arguments)
    settings = read_settings()
    results: list[Result] = []
    print("| program | kept | pairs alike | lowest of all candidates | exact over bursts |")
    print("| --- | --- | ---: | --- | ---: |")
    for name in given.names or PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="halo-bursts-") as folder:
            results.append(run_program(settings, name, given, Path(folder)))
        print(as_row(results[-1]), flush=True)
    mean = statistics.geometric_mean(it.times.value if it.times else 1.0 for it in results)
    print(f"\ngeometric mean of the times {mean:.3f}")
    return int(not all(it.met for it in results))


if __name__ == "__main__":
    sys.exit(main())
