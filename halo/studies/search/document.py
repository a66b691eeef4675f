"""The document of `halo study eval predict`: the misses that a program would have under plans."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from halo.base.schema.simulation import Misses
from halo.base.schema.values import Count

FORMAT, VERSION = "halo-prediction", 1


class LoadedTrace(Struct, frozen=True, kw_only=True):
    """The object trace that is replayed."""

    accesses: Count  # of the whole program
    kept: Count  # those that are replayed
    objects: Count = 0  # of the whole program; 0 in earlier results


class Predicted(Struct, frozen=True, kw_only=True):
    """The accesses that are kept, under one candidate plan."""

    name: str  # its number in the call
    accesses: Count  # that were replayed
    cycles: Count  # modelled cost of the misses
    grouped: Count = 0  # objects of the whole program that groups serve; 0 in earlier results
    mixed: Count = 0  # those from mixed-size pages; 0 in earlier results
    peak_bytes: Count  # of the groups' pages
    misses: Misses  # accesses that missed, by level


class PredictionDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study eval predict --json`."""

    format: str = FORMAT  # `halo-prediction`
    version: int = VERSION  # 1
    program: str  # its path
    arguments: tuple[str, ...]  # of the recorded run
    trace: LoadedTrace  # of that run
    without: Predicted  # without a plan: objects are where they were recorded
    plans: Mapping[str, Predicted]  # by the plan's file
