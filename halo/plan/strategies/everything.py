"""One pool for every small object of any caller: halo as the program's allocator."""

from __future__ import annotations

from halo.plan.strategies.base import NoOptions, ProposedGroup, Strategy, StrategyInput


def group(subject: StrategyInput, options: NoOptions) -> list[ProposedGroup]:
    """One group without contexts; no group if no context may be grouped."""
    return [ProposedGroup((), "every small object, for any caller")] if subject.eligible() else []


STRATEGY = Strategy(
    "everything", "all small objects in one pool, whatever their caller", NoOptions, group, True
)
