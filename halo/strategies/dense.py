"""Every small object in one pool, hot or not: density without any judgement."""

from __future__ import annotations

from halo.strategies.base import Candidate, NoOptions, Strategy, Subject


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """One group of all contexts that may be grouped, also those that were never accessed."""
    return [Candidate(subject.eligible(), "every context of small objects")]


STRATEGY = Strategy("dense", "all small contexts share one group", NoOptions, group)
