"""Plans whose groups have spans, for programs with large objects."""

from __future__ import annotations

from pathlib import Path

from halo.plan import write_plan
from halo.plan.builder import build_plan
from halo.plan.grouping import Group, Grouping
from halo.plan.model import Spans
from halo.record.profile import Profile, name_frames, read_profile
from support.command import halo

LARGE = 65536
"""Bytes: larger objects have spans."""


def record_large(command: list[str], profile: Path) -> Profile:
    options = ("--exact", "--max-object", "268435455", "-o", str(profile))
    recorded = halo("record", *options, "--", *command)
    assert recorded.status == 0, recorded.stderr
    return read_profile(profile)


def plan_of_large(profile: Profile, spans: Spans, plan: Path, apart: bool = False) -> list[str]:
    """Writes a plan of all contexts with large objects: one group, or one for each (`apart`).

    Returns the innermost function of each group.
    """
    large = [at for at, one in enumerate(profile.contexts) if one.max_size > LARGE]
    parts = [(at,) for at in large] if apart else [tuple(large)]
    groups = tuple(Group(part, "large", spans=spans) for part in parts)
    write_plan(build_plan(profile, Grouping("by hand", groups=groups)), plan)
    innermost = [next(iter(profile.stack(part[0]))) for part in parts]
    names = name_frames(profile, innermost)
    return [names[frame].partition("+")[0] for frame in innermost]
