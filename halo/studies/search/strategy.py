"""What-if search: groups with the least modelled time in a replay of the recorded accesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from halo.base.errors import BadInput
from halo.base.settings import read_settings
from halo.plan.builder import largest_grouped
from halo.plan.options import option
from halo.plan.strategies import halo, hot_cold, size_affinity
from halo.plan.strategies.base import ProposedGroup, Prospect, Strategy, StrategyInput
from halo.record.profile import OBJECT_TRACE, ObjectTrace
from halo.studies.search.bar import progress_bar
from halo.studies.search.cost import modelled_cost
from halo.studies.search.draft import LAYOUTS, Draft, Placer, make_draft
from halo.studies.search.predictor import Sample, predictor
from halo.studies.search.search import Cost, Effort, Found, one_of_each_first, search
from halo.studies.search.walks import Walks

MIN_SAVED = 0.01
"""Share of the modelled cycles that groups must save, for a search to be worth trying.

The model leaves out the program's computing. So less than that saves less than 1 % of the time,
with which no plan wins a race (`halo/measure/racing/verdict.py`).
"""
_FINALISTS = 16
_MAX_KEPT = 1 << 26  # accesses in memory, 8 bytes each
_HOTTEST = 24
_NO_GROUPS = make_draft([])


@dataclass(frozen=True)
class Options:
    drafts: int = option(600, "number of groupings whose misses are predicted", 1)
    accesses: int = option(4_000_000, "accesses of the trace that each prediction replays", 65536)
    seed: int = option(0, "seed of the search", 0)
    rank: int = option(
        1, "which grouping: 1 is the best, and the next ones are of other origins", 1, _FINALISTS
    )


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """The groups of the grouping of that rank; none if no grouping has a lower cost.

    `BadInput` if the profile has no object trace.
    """
    given = _input_of(subject)
    found, without = _search(given, options.drafts, options.accesses, options.seed)
    better = [it for it in found if it.cost < without]
    if len(better) < options.rank:
        return []
    chosen = better[options.rank - 1]
    saved = 1 - chosen.cost / max(1, without)
    reason = f"search: {saved:.1%} fewer modelled cycles of misses and allocations"
    return [ProposedGroup(it.contexts, reason, it.layout) for it in chosen.draft.groups]


def prospect(subject: StrategyInput) -> Prospect:
    """By the modelled cycles that the groups of other strategies save, from which a search starts.

    `BadInput` if the profile has no object trace.
    """
    if not _hottest(subject):
        return Prospect(False, "no context that may be grouped has accesses")
    without, *others = _seed_costs(_input_of(subject))
    least = min(it.cost for it in others)
    saved = max(0.0, 1 - least / max(1, without.cost))
    cycles = "of the modelled cycles of misses and allocations"
    what = f"the groups of other strategies save {saved:.1%} {cycles}"
    if saved < MIN_SAVED:
        return Prospect(False, f"{what}, less than {MIN_SAVED:.0%}")
    return Prospect(True, what)


def _input_of(subject: StrategyInput) -> _Input:
    trace = OBJECT_TRACE.of(subject.profile)
    if trace is None:
        raise BadInput(
            "The profile has no object trace, which strategy search needs; record it with:"
            " halo record --objects"
        )
    return _Input(subject, trace)


@dataclass(frozen=True)
class _Input:
    """What a search depends on; equal inputs have equal results."""

    subject: StrategyInput
    trace: ObjectTrace

    def __hash__(self) -> int:
        return hash((self.trace, self.subject.max_size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Input) and (
            self.subject.profile is other.subject.profile
            and self.subject.max_size == other.subject.max_size
        )


@lru_cache(maxsize=2)
def _search(given: _Input, drafts: int, accesses: int, seed: int) -> tuple[list[Found], float]:
    """Groupings in the order of their ranks, by the whole trace, and the cost without a plan."""
    subject = given.subject
    seeds, hot = list(_seeds(subject)), _hottest(subject)
    tried = _predicting(
        given,
        "searching groups",
        drafts,
        accesses,
        lambda cost: search(seeds, hot, cost, Effort(drafts), seed),
    )
    # A sample has too few accesses for the misses of large caches, so no seed is given up by it.
    finalists = list(dict.fromkeys([*(it.draft for it in tried[:_FINALISTS]), *seeds]))
    new = [draft for draft in finalists if draft not in seeds]
    compared = [*_seed_costs(given), *_compared(given, "comparing the best groups", new)]
    known = {it.draft: it for it in compared}
    without = known[_NO_GROUPS]
    found = [known[draft] for draft in finalists if draft != _NO_GROUPS]
    found.sort(key=lambda it: (it.cost, len(it.draft.groups)))
    return one_of_each_first(found, seeds), without.cost


@lru_cache(maxsize=2)
def _seed_costs(given: _Input) -> list[Found]:
    """The seeds with their costs by the whole trace; the first has no groups."""
    seeds = list(dict.fromkeys(_seeds(given.subject)))
    return _compared(given, "comparing the groups of other strategies", seeds)


def _compared(given: _Input, what: str, drafts: Sequence[Draft]) -> list[Found]:
    """The drafts with their costs by the whole trace."""
    if not drafts:
        return []
    return _predicting(
        given,
        what,
        len(drafts),
        _MAX_KEPT,
        lambda cost: [Found(*it) for it in zip(cost(drafts), drafts, strict=True)],
    )


def _predicting(
    given: _Input, what: str, steps: int, most: int, work: Callable[[Cost], list[Found]]
) -> list[Found]:
    """Calls `work` with costs by at most that many accesses, evenly from the whole trace."""
    placer, walks = _models(given)
    with (
        predictor(read_settings(), given.trace, Sample(most)) as running,
        progress_bar(what, steps) as advance,
    ):

        def cost(wanted: Sequence[Draft]) -> list[float]:
            found = running.predict([placer.place(draft) for draft in wanted], advance)
            return [
                modelled_cost(running.loaded, it, walks.further_steps(draft))
                for it, draft in zip(found, wanted, strict=True)
            ]

        return work(cost)


@lru_cache(maxsize=2)
def _models(given: _Input) -> tuple[Placer, Walks]:
    """Where drafts place objects, and what identifying these costs."""
    profile, largest = given.subject.profile, given.subject.max_size
    return Placer(profile, min(largest, largest_grouped(profile))), Walks.of(profile)


def _hottest(subject: StrategyInput) -> list[int]:
    contexts = subject.profile.contexts
    eligible = [at for at in subject.eligible() if contexts[at].accesses]
    return sorted(eligible, key=lambda at: (-contexts[at].accesses, at))[:_HOTTEST]


def _seeds(subject: StrategyInput) -> Iterator[Draft]:
    """No groups; and the groupings of other strategies, in all layouts.

    Their first groups, if there are more than a plan of the search has.
    """
    yield _NO_GROUPS
    groupings: list[list[Sequence[int]]] = [
        [subject.eligible()],
        [it.contexts for it in halo.STRATEGY.group(subject, halo.Options())],
        [it.contexts for it in hot_cold.STRATEGY.group(subject, hot_cold.Options())],
        [it.contexts for it in size_affinity.STRATEGY.group(subject, size_affinity.Options())],
        [[at] for at in _hottest(subject)],
    ]
    for groups in groupings:
        for layout in LAYOUTS:
            yield make_draft([(contexts, layout) for contexts in groups[: Effort.max_groups]])


STRATEGY = Strategy(
    "search",
    "groups with the least modelled time in a replay of the recorded accesses",
    Options,
    group,
    needs=OBJECT_TRACE,
)
