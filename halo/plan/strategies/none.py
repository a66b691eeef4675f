"""No groups: a control that measures the cost of the runtime itself."""

from __future__ import annotations

from halo.plan.strategies.base import NoOptions, ProposedGroup, Strategy, StrategyInput


def group(subject: StrategyInput, options: NoOptions) -> list[ProposedGroup]:
    """No groups."""
    return []


STRATEGY = Strategy("none", "no groups; the runtime forwards everything", NoOptions, group)
