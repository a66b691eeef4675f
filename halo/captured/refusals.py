"""Why call sites have no hint."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from halo.plan.hints.layout import MAX_HINT_BYTES

MIN_SHARE = 0.01
"""Share of the accesses from which the objects of a call site are studied."""
MIN_OBJECTS = 50


class Refusal(Enum):
    """The cause, in the order in which they are tried: what a call site has."""

    RARE = f"less than {MIN_SHARE:.0%} of the accesses"
    MODULE = "no build-id, or a changed file"
    SIZES = f"objects of several sizes, or of over {MAX_HINT_BYTES} bytes"
    UNKNOWN = "no value known at the call"
    POINTERS = "no known value but pointers or constants"
    FEW = f"fewer than {MIN_OBJECTS} accessed objects with contents"
    COMMUNITIES = "too few communities of objects"
    UNRELATED = "no known value that predicts use"

    def of_site(self, detail: str = "") -> str:
        """The sentence about one call site; `detail` is a clause."""
        return f"It has {self.value}{f': {detail}' if detail else ''}."


Refusals = Counter[Refusal]
"""The number of call sites by cause; those that are `RARE` do not count."""


def sentence(refused: Refusals) -> str:
    """Why no call site has a hint; the most frequent cause first."""
    if not refused:
        return f"No call site of the allocator has {MIN_SHARE:.0%} of the accesses to objects."
    ordered = sorted(refused.items(), key=lambda one: -one[1])
    causes = (f"{one.value} ({count} site{'s' if count > 1 else ''})" for one, count in ordered)
    return f"No call site with {MIN_SHARE:.0%} of the accesses has a hint: {', '.join(causes)}."
