"""The document of `halo study colours`: whether the colours of page frames matter."""

from __future__ import annotations

from msgspec import Struct

from halo.base.schema.values import Count

FORMAT, VERSION = "halo-colours", 1


class LevelTimes(Struct, frozen=True, kw_only=True):
    """A level of the cache behind the first, and the times of loads from it."""

    name: str  # of the level
    colours: Count  # number of colours; 0: frames do not decide about its sets
    pages: Count  # that were chased
    tested: bool  # whether there were as many pages of one colour
    same_ns: float  # nanoseconds of a load from pages of one colour
    spread_ns: float  # and from pages of all colours


class ColoursDocument(Struct, frozen=True, kw_only=True):
    """The output of `halo study colours --json`."""

    levels: tuple[LevelTimes, ...]  # from the second one on
    format: str = FORMAT  # `halo-colours`
    version: int = VERSION  # 1
