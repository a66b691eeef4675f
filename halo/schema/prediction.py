"""What `halo-predict` writes: the misses that a program would have under a plan."""

from __future__ import annotations

from msgspec import Struct

from halo.schema.simulation import Misses
from halo.schema.values import Count


class LoadedTrace(Struct, frozen=True, kw_only=True):
    """The object trace that is replayed."""

    accesses: Count  # of the whole program
    kept: Count  # those that are replayed


class Predicted(Struct, frozen=True, kw_only=True):
    """The accesses that are kept, under one candidate plan."""

    name: str  # of the candidate
    accesses: Count  # that were replayed
    cycles: Count  # modelled cost of the misses
    peak_bytes: Count  # of the groups' pages
    misses: Misses  # accesses that missed, by level
