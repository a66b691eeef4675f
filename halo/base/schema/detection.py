"""The output of `libhalo-detector.so`: the sizes of a program's allocations."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from halo.base.schema.values import Count, Number

FORMAT, VERSION = "halo-detector", 1
PAGE = 4096
CLASSES = PAGE + 2  # of sizes 0 to a page, and of all that is larger
Bins = Annotated[tuple[Count, ...], Meta(min_length=CLASSES, max_length=CLASSES)]
Sizes = tuple[tuple[Count, Count], ...]


class Detection(Struct, frozen=True):
    """The output of `halo study heap detect`. Sizes are in bytes."""

    format: str  # `halo-detector`
    version: int  # 1
    program: str  # its path
    allocations: Count  # number of allocations
    mean: Number  # size
    minimum: Count  # size
    maximum: Count  # size
    max_live_allocations: Count  # most objects that lived at once
    bins: Bins  # allocations of each size from 0 to 4096, and of all larger ones
    groups: tuple[Sizes, ...]  # of each group of the plan, pairs of size and allocations
    larger_bytes: Count = 0  # of the allocations larger than 4096

    @property
    def grouped(self) -> tuple[int, ...]:
        """The allocations that each group of the plan would serve."""
        return tuple(sum(number for _, number in pairs) for pairs in self.groups)
