"""No groups: a control that measures the cost of the runtime itself."""

from __future__ import annotations

from halo.plan.strategies.base import Candidate, NoOptions, Strategy, Subject


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """No groups."""
    return []


STRATEGY = Strategy("none", "no groups; the runtime forwards everything", NoOptions, group)
