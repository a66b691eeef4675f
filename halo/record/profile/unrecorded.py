"""Stands in for the profile of a program that cannot be recorded.

It has one context, of all objects, so that strategies make plans that do not depend on contexts.
"""

from __future__ import annotations

import os
from pathlib import Path

from halo.record.profile.model import Context, Module, Parameters, Profile

_PRODUCER = "none"


def unrecorded_profile(program: Path, build_id: str, live_bytes: int, max_object: int) -> Profile:
    """The profile of a program without build-id if that is empty.

    `live_bytes`: the peak of its live objects, or an upper bound. `max_object`: the size in bytes
    of the largest object to group.
    """
    every = Context(
        node=0,
        allocations=1,
        frees=0,
        bytes=1,
        min_size=1,
        max_size=1,
        sizes=(),
        peak_live_bytes=live_bytes,
        accesses=0,
        alignment=0,
    )
    path = os.path.realpath(program)
    modules = (Module(path, build_id),) if build_id else ()
    return Profile(
        _PRODUCER,
        Parameters(affinity_distance=0, max_object_size=max_object),
        modules,
        frames=(),
        nodes=((0, 0),),
        contexts=(every,),
        edges=(),
        program=path,
    )


def is_recorded(profile: Profile) -> bool:
    """Whether the profile is of a run, and not the stand-in for one."""
    return profile.producer != _PRODUCER
