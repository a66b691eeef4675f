"""The selectors of a plan: HALO's figure 10 applied to a grouping, as compact-form records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from halo.plan.alignment import Aligner
from halo.plan.callsites import UNMATCHABLE, CallSites
from halo.plan.grouping import Grouping
from halo.plan.layout import MAX_CONJUNCTION_SITES, MAX_SITES, VERDICT_FORWARD
from halo.plan.model import Conjunction, PlanModule, PlanSite, SelectorReview, Selectors
from halo.plan.redirection import ObstacleSource, Redirection
from halo.plan.review.ids import context_ids
from halo.plan.selection import Usable, first_match, select
from halo.record.profile.model import Profile


class Selected(NamedTuple):
    """The selectors, the modules of their sites, and the verdict of each context of the profile."""

    modules: tuple[PlanModule, ...]
    selectors: Selectors
    verdicts: list[int]
    review: SelectorReview


def make_selectors(
    profile: Profile,
    grouping: Grouping,
    members: Sequence[int],
    sites: CallSites,
    source: ObstacleSource,
    aligner: Aligner,
) -> Selected:
    """Selectors that distinguish each group from all other contexts in `members`.

    Groups are processed by descending coverage (HALO, section 4.2, figure 10). `members` are ids
    of the contexts that could conflict.
    """
    chains = {at: [sites.site_of_frame[frame] for frame in profile.stack(at)] for at in members}
    labels = dict(enumerate(grouping.labels(len(profile.contexts), VERDICT_FORWARD)))
    immediate = _immediate(chains.values())
    redirection = Redirection(sites, source, immediate)
    usable = Usable(redirection.possible, MAX_SITES)
    order = sorted(enumerate(grouping.groups), key=lambda item: (-item[1].coverage, item[0]))
    selection = select(
        [(at, [it for it in group.contexts if it in chains]) for at, group in order],
        labels,
        chains,
        usable,
        MAX_CONJUNCTION_SITES,
    )
    matched = {at: first_match(selection.expressions, chain) for at, chain in chains.items()}
    verdicts = [VERDICT_FORWARD] * len(profile.contexts)
    decided: list[list[int]] = [[] for _ in selection.expressions]
    for context, expression in matched.items():
        if expression is not None:
            verdicts[context] = selection.expressions[expression].group
            decided[expression].append(context)
    conjunctions = tuple(
        Conjunction(
            expression.group,
            aligner.of(profile.contexts[at] for at in decided[number]),
            tuple(usable.used[site] for site in expression.sites),
        )
        for number, expression in enumerate(selection.expressions)
    )
    modules, plan_sites = _plan_sites(sites, list(usable.used), immediate)
    review = SelectorReview(
        sites=len(plan_sites),
        immediate=sum(site.immediate for site in plan_sites),
        conjunctions=len(conjunctions),
        unreachable=context_ids(selection.unreachable),
        not_redirected=dict(sorted(redirection.obstacles.items())),
    )
    return Selected(modules, Selectors(plan_sites, conjunctions), verdicts, review)


def _immediate(chains: Collection[Sequence[int]]) -> set[int]:
    """The call sites that call the allocator in each chain that they occur in."""
    inner = {chain[0] for chain in chains if chain}
    return inner.difference(*(chain[1:] for chain in chains)) - {UNMATCHABLE}


def _plan_sites(
    sites: CallSites, used: Sequence[int], immediate: Collection[int]
) -> tuple[tuple[PlanModule, ...], tuple[PlanSite, ...]]:
    modules: dict[str, int] = {}
    paths: list[PlanModule] = []
    found = []
    for site in used:
        module, offset = sites.sites[site]
        number = modules.setdefault(module.build_id, len(paths))
        if number == len(paths):
            paths.append(PlanModule(module.build_id, module.path))
        found.append(PlanSite(number, offset, sites.distance(site), site in immediate))
    return tuple(paths), tuple(found)
