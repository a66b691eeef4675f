"""The output of `halo probe --json`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from halo.base.schema.summary import Times


class RelativeChange(Struct, frozen=True):
    """A change of time, as a part of it: 0.01 is 1 % more."""

    value: float  # of the medians
    interval: tuple[float, float]  # its 95 % interval


class ProbeSummary(Struct, frozen=True):
    """The output of `halo probe --json`."""

    program: str  # its name
    answer: str  # `cares`, `does-not-care` or `cannot-tell`
    best_baseline: str  # the fastest allocator
    allocators: Mapping[str, Times]  # the rounds that found it, by name
    rounds: Mapping[str, Times]  # it, `4 random pools` and `1 pool`
    between: RelativeChange  # random pools over one pool
    changes: Mapping[str, RelativeChange]  # each extreme over the fastest allocator
    small_bytes: int | None  # peak of objects of up to 4096 bytes; `null`: unknown
    outputs_compared: bool  # `false` with `--ignore-output`
    warnings: tuple[str, ...]  # whatever makes the figures doubtful
