"""Runs a strategy by name and checks the groups that it proposes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType

from halo.base.errors import BadInput
from halo.plan.grouping import Group, Grouping
from halo.plan.options import option, parse_options
from halo.plan.strategies.base import AnyStrategy, ProposedGroup, StrategyInput
from halo.plan.strategies.registry import STRATEGIES
from halo.record.profile import Profile

_MAX_SIZE = "max_size"
_DEFAULT_MAX_SIZE = 4096
_MAX_DIGITS = 18  # of a number of bytes
_NO_OPTIONS: Mapping[str, str] = MappingProxyType({})
_UNGROUPED = -1


@dataclass(frozen=True)
class CommonOptions:
    """Options of every strategy."""

    max_size: str = option("", "size of the largest object to group (default: as recorded)")


_COMMON = frozenset(item.name for item in fields(CommonOptions))


def names() -> list[str]:
    """The names of all strategies."""
    return [strategy.name for strategy in STRATEGIES]


def strategy_named(name: str) -> AnyStrategy:
    """The strategy of that name; `BadInput` (naming all) if there is none."""
    for strategy in STRATEGIES:
        if strategy.name == name:
            return strategy
    raise BadInput(f"The strategy {name} does not exist; choose one of: {', '.join(names())}.")


def make_grouping(
    profile: Profile, name: str, options: Mapping[str, str] = _NO_OPTIONS
) -> Grouping:
    """The groups of a profile by strategy `name`.

    `options` are texts, of the strategy and of `CommonOptions`. `max_size` is in bytes (default: as
    recorded, else HALO's 4096). Contexts whose smallest object is larger are in no group. Raises
    `BadInput` for an unknown strategy or option (listing the valid ones) and for a bad value.
    """
    strategy = strategy_named(name)
    common = {key: text for key, text in options.items() if key in _COMMON}
    own = {key: text for key, text in options.items() if key not in _COMMON}
    every = parse_options(CommonOptions, common, f"Strategy {name}")
    chosen = parse_options(strategy.options, own, f"Strategy {name}")
    subject = subject_of(profile, every.max_size)
    proposed = strategy.group(subject, chosen)
    candidates = list(proposed) if strategy.at_random else _checked(proposed, subject)
    return Grouping(
        strategy=name,
        groups=_measured(profile, candidates),
        parameters={**asdict(chosen), _MAX_SIZE: subject.max_size},
        at_random=strategy.at_random,
        largest=strategy.largest(profile) if strategy.largest is not None else None,
    )


def subject_of(profile: Profile, max_size: str = "") -> StrategyInput:
    """The input of strategies; `max_size` as in `CommonOptions`, in bytes."""
    return StrategyInput(profile, _max_size(max_size, profile))


def refers_to_contexts(strategy: str) -> bool:
    """Whether its groups come from a file or a section that names the profile's contexts by id."""
    found = strategy_named(strategy)
    return found.needs is not None or found.names_contexts


def _max_size(text: str, profile: Profile) -> int:
    if not text:
        return profile.parameters.max_object_size or _DEFAULT_MAX_SIZE
    if not text.isdecimal() or len(text) > _MAX_DIGITS or int(text) == 0:
        raise BadInput(f"Option {_MAX_SIZE} must be a number of bytes, not {text!r}.")
    return int(text)


def _checked(candidates: Iterable[ProposedGroup], subject: StrategyInput) -> list[ProposedGroup]:
    """Drops members that may not be grouped, and then empty groups; refuses overlaps."""
    seen: set[int] = set()
    kept = []
    for candidate in candidates:
        contexts = subject.profile.contexts
        members = [at for at in candidate.contexts if subject.may_group(contexts[at])]
        if len(set(members)) < len(members) or seen.intersection(members):
            raise BadInput("A context is in two groups; a context can be in one group only.")
        seen.update(members)
        if members:
            kept.append(candidate._replace(contexts=members))
    return kept


def _measured(profile: Profile, candidates: list[ProposedGroup]) -> tuple[Group, ...]:
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
            spans=candidate.spans,
            conflicts=candidate.conflicts,
        )
        for candidate, weight in zip(candidates, weights, strict=True)
    )
