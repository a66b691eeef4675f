"""Runs a strategy by name and checks the groups that it proposes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from types import MappingProxyType

from halo.errors import BadInput
from halo.plan.grouping import Group, Grouping
from halo.plan.options import parse_options
from halo.profile import Profile
from halo.strategies.base import AnyStrategy, Candidate, Subject
from halo.strategies.registry import STRATEGIES

_MAX_SIZE = "max_size"
_DEFAULT_MAX_SIZE = 4096
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
_UNGROUPED = -1


def names() -> list[str]:
    """The names of all strategies."""
    return [strategy.name for strategy in STRATEGIES]


def strategy_named(name: str) -> AnyStrategy:
    """The strategy of that name; `BadInput` (naming all) if there is none."""
    for strategy in STRATEGIES:
        if strategy.name == name:
            return strategy
    raise BadInput(f"There is no strategy {name}; there are: {', '.join(names())}.")


def make_grouping(
    profile: Profile, name: str, options: Mapping[str, str] = _NO_OPTIONS
) -> Grouping:
    """The groups of a profile by strategy `name`.

    `options` are texts. Every strategy also accepts `max_size`: the size in bytes of the largest
    object that may be grouped (default: as recorded, else HALO's 4096). Contexts
    whose smallest object is larger are in no group. Raises `BadInput` for an unknown strategy or
    option (listing the valid ones) and for a bad value.
    """
    strategy = strategy_named(name)
    own = dict(options)
    max_size = _max_size(own.pop(_MAX_SIZE, None), profile)
    chosen = parse_options(strategy.options, own, f"Strategy {name}")
    subject = Subject(profile, max_size)
    proposed = strategy.group(subject, chosen)
    candidates = list(proposed) if strategy.at_random else _checked(proposed, subject)
    return Grouping(
        strategy=name,
        groups=_measured(profile, candidates),
        parameters={**asdict(chosen), _MAX_SIZE: max_size},
        at_random=strategy.at_random,
        largest=strategy.largest(profile) if strategy.largest is not None else None,
        hints=tuple(strategy.hints(subject, chosen)) if strategy.hints is not None else (),
    )


def _max_size(text: str | None, profile: Profile) -> int:
    if text is None:
        return profile.parameters.max_object_size or _DEFAULT_MAX_SIZE
    if not text.isdecimal() or int(text) == 0:
        raise BadInput(f"Option {_MAX_SIZE} must be a number of bytes, not {text!r}.")
    return int(text)


def _checked(candidates: Iterable[Candidate], subject: Subject) -> list[Candidate]:
    """Drops members that may not be grouped and then empty groups; refuses overlaps."""
    seen: set[int] = set()
    kept = []
    for candidate in candidates:
        contexts = candidate.contexts
        members = [at for at in contexts if subject.may_group(subject.profile.contexts[at])]
        if len(set(members)) < len(members) or seen.intersection(members):
            raise BadInput("A context is in two groups; a context can be in one group only.")
        seen.update(members)
        if members:
            kept.append(candidate._replace(contexts=members))
    return kept


def _measured(profile: Profile, candidates: list[Candidate]) -> tuple[Group, ...]:
    """The candidates with their share of all accesses (0 to 1) and their inner edge weights."""
    labels = [_UNGROUPED] * len(profile.contexts)
    for index, candidate in enumerate(candidates):
        for at in candidate.contexts:
            labels[at] = index
    weights = [0] * len(candidates)
    for a, b, weight in profile.edges:
        if labels[a] == labels[b] != _UNGROUPED:
            weights[labels[a]] += weight
    total = profile.accesses or 1
    return tuple(
        Group(
            contexts=tuple(candidate.contexts),
            reason=candidate.reason,
            coverage=sum(profile.contexts[at].accesses for at in candidate.contexts) / total,
            weight=weight,
            layout=candidate.layout,
            conflicts=candidate.conflicts,
        )
        for candidate, weight in zip(candidates, weights, strict=True)
    )
