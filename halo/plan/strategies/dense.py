"""One pool for the contexts of all small objects, hot or cold: the effect of density alone."""

from __future__ import annotations

from halo.plan.strategies.base import NoOptions, ProposedGroup, Strategy, StrategyInput


def group(subject: StrategyInput, options: NoOptions) -> list[ProposedGroup]:
    """One group of all contexts that may be grouped, including those that were never accessed."""
    return [ProposedGroup(subject.eligible(), "every context of small objects")]


STRATEGY = Strategy("dense", "all small contexts share one group", NoOptions, group)
