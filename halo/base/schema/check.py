"""The output of `halo check --json`."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.summary import Times
from halo.base.schema.values import Number, Positive, Share


class CheckSummary(Struct, frozen=True):
    """The output of `halo check --json`; a value that was not measured is `null`."""

    program: str  # its name
    plan: str  # its path
    allocator: str  # next allocator of the plan
    answer: str  # `helps`, `does-not-help` or `cannot-tell`
    sentence: str  # the same, with the figures
    needed: str | None  # how to get an answer
    min_speedup: Positive  # the ratio that was asked for
    speedup: Number | None  # of times without and with the plan: the median of all rounds
    interval: tuple[Number | None, Number | None]  # its 95 % interval; `null`: not bounded
    error: Share  # maximum probability of a false answer
    clock: str  # `wall` or `processor`: the time that was compared
    rounds: int  # number of rounds
    planned: Times | None  # with the plan
    alone: Times | None  # with the allocator alone
    seconds: Number  # time of the whole check
    outputs_compared: bool  # `false` with `--ignore-output`
    warnings: tuple[str, ...]  # whatever makes the figures doubtful
