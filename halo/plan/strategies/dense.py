"""One pool for the contexts of all small objects, hot or cold: the effect of density alone."""

from __future__ import annotations

from halo.plan.strategies.base import Candidate, NoOptions, Strategy, Subject


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """One group of all contexts that may be grouped, including those that were never accessed."""
    return [Candidate(subject.eligible(), "every context of small objects")]


STRATEGY = Strategy("dense", "all small contexts share one group", NoOptions, group)
