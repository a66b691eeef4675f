"""The call stacks of contexts in a form that all profiles of a program share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from halo.record.profile.model import Context, Profile

Site = tuple[str, int]
"""A call site in all profiles: its module's build-id, or the path if it has none; the offset."""


@dataclass(frozen=True)
class Stack:
    """The reduced stack of a context, innermost site first, and its depth in bytes."""

    sites: tuple[Site, ...]
    depth: int


def call_stacks(profile: Profile) -> Iterator[tuple[Context, Stack]]:
    """All contexts with their stacks.

    The depth sums the known distances: it stands for the stack pointer, without recursion.
    """
    modules = [module.build_id or module.path for module in profile.modules]
    sites = [
        (modules[frame.module] if frame.module >= 0 else "", frame.offset)
        for frame in profile.frames
    ]
    for number, context in enumerate(profile.contexts):
        frames = list(profile.stack(number))
        depth = sum(max(0, profile.frames[frame].distance) for frame in frames)
        yield context, Stack(tuple(sites[frame] for frame in frames), depth)


def build_of(profile: Profile) -> str:
    """The build-id of the program's executable, or empty if the profile has none."""
    paths = (profile.program, os.path.realpath(profile.program))
    return next((it.build_id for it in profile.modules if it.path in paths), "")
