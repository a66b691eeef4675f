"""Every small object in one pool, whoever allocates it: halo as the program's allocator."""

from __future__ import annotations

from halo.strategies.base import Candidate, NoOptions, Strategy, Subject


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """One group without contexts of its own; none where there is nothing to group."""
    return [Candidate((), "every small object, whoever allocates it")] if subject.eligible() else []


STRATEGY = Strategy(
    "everything", "each small object in one pool, no caller looked at", NoOptions, group, True
)
