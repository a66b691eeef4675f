"""No groups at all: what does the runtime itself cost?"""

from __future__ import annotations

from halo.strategies.base import Candidate, NoOptions, Strategy, Subject


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """Nothing."""
    return []


STRATEGY = Strategy("none", "no groups: everything is forwarded", NoOptions, group)
