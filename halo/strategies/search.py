"""What-if search: groups with the least modelled time in a replay of the recorded accesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from halo.errors import BadInput
from halo.plan.options import option
from halo.prediction.bar import progress_bar
from halo.prediction.cost import modelled_cost
from halo.prediction.draft import LAYOUTS, Draft, Placer, make_draft
from halo.prediction.predictor import Sample, predictor
from halo.prediction.search import Cost, Effort, Found, one_of_each_first, search
from halo.prediction.walks import Walks
from halo.profile import OBJECT_TRACE, ObjectTrace
from halo.settings import read_settings
from halo.strategies import halo, hot_cold, size_affinity
from halo.strategies.base import Candidate, Strategy, Subject

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


def group(subject: Subject, options: Options) -> list[Candidate]:
    """The groups of the grouping of that rank; none if no grouping has a lower cost.

    `BadInput` if the profile has no object trace.
    """
    trace = OBJECT_TRACE.of(subject.profile)
    if trace is None:
        raise BadInput(
            "The profile has no object trace, which strategy search needs; record it with:"
            " halo record --objects"
        )
    found, without = _search(_Input(subject, trace), options.drafts, options.accesses, options.seed)
    better = [it for it in found if it.cost < without]
    if len(better) < options.rank:
        return []
    chosen = better[options.rank - 1]
    saved = 1 - chosen.cost / max(1, without)
    reason = f"search: {saved:.1%} fewer modelled cycles of misses and allocations"
    return [Candidate(it.contexts, reason, it.layout) for it in chosen.draft.groups]


@dataclass(frozen=True)
class _Input:
    """What a search depends on; equal inputs have equal results."""

    subject: Subject
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
    subject, placer = given.subject, Placer(given.subject.profile)
    walks = Walks.of(subject.profile)

    def run(what: str, steps: int, most: int, work: Callable[[Cost], list[Found]]) -> list[Found]:
        """Calls `work` with costs by at most that many accesses, evenly from the whole trace."""
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

    hot = _hottest(subject)
    tried = run(
        "searching groups",
        drafts,
        accesses,
        lambda cost: search(_seeds(subject), hot, cost, Effort(drafts), seed),
    )
    # A sample has too few accesses for the misses of large caches, so no seed is given up by it.
    best = (it.draft for it in tried[:_FINALISTS])
    finalists = list(dict.fromkeys([_NO_GROUPS, *best, *_seeds(subject)]))
    without, *found = run(
        "comparing the best groups",
        len(finalists),
        _MAX_KEPT,
        lambda cost: [Found(*it) for it in zip(cost(finalists), finalists, strict=True)],
    )
    found.sort(key=lambda it: (it.cost, len(it.draft.groups)))
    return one_of_each_first(found, _seeds(subject)), without.cost


def _hottest(subject: Subject) -> list[int]:
    contexts = subject.profile.contexts
    eligible = [at for at in subject.eligible() if contexts[at].accesses]
    return sorted(eligible, key=lambda at: (-contexts[at].accesses, at))[:_HOTTEST]


def _seeds(subject: Subject) -> Iterator[Draft]:
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
