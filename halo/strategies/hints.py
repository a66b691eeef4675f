"""Hints for unmodified programs: objects are placed by values that are known when they are made."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from halo.captured import learn_hints, sentence, site_hints, survey
from halo.errors import BadInput
from halo.layouts.layout_file import Layout, read_layout
from halo.layouts.replays import ReplayOptions, check_replayer, contents_of, replay
from halo.plan.hints.sites import SiteHints
from halo.profile import OBJECT_TRACE, ObjectTrace, Profile
from halo.profile.sections.object_trace import check_file
from halo.settings import read_settings
from halo.strategies.base import Candidate, NoOptions, Strategy, Subject

_AGAIN = "record it with: halo record --objects --contents"


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """No groups: all other objects are left to the next allocator."""
    return []


def hints(subject: Subject, options: NoOptions) -> SiteHints:
    """The rules of the call sites that a hint helps, or why there are none.

    `BadInput` if the profile has no object trace.
    """
    trace = OBJECT_TRACE.of(subject.profile)
    if trace is None:
        raise BadInput(f"The profile has no object trace, which strategy hints needs; {_AGAIN}")
    return _learnt(_Input(subject.profile, trace))


class _Input:
    """What the rules depend on; those of equal inputs are learnt once."""

    def __init__(self, profile: Profile, trace: ObjectTrace) -> None:
        self.profile = profile
        self.trace = trace

    def __hash__(self) -> int:
        return hash(self.trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Input) and self.profile is other.profile


@lru_cache(maxsize=2)
def _learnt(given: _Input) -> SiteHints:
    settings, file = read_settings(), Path(given.trace.file)
    check_replayer(settings)
    check_file(given.trace)
    found = survey(given.profile)
    if not found.kinds:
        return SiteHints((), sentence(found.refused))
    with tempfile.TemporaryDirectory(prefix="halo-hints-") as name:
        folder = Path(name)
        contents = contents_of(settings, file, folder)
        if not len(contents.numbers):
            return SiteHints((), f"{file.name} has no contents of objects; {_AGAIN}.")

        def communities() -> Layout:
            place = folder / "communities"
            replay(settings, file, ReplayOptions(layout=place, replays=False), folder)
            return read_layout(place)

        learnt = learn_hints(found.kinds, contents, given.trace, communities)
    rules = site_hints(learnt.hints)
    return SiteHints(rules, "" if rules else sentence(found.refused + learnt.refused))


STRATEGY = Strategy(
    "hints",
    "objects by values that are in registers when they are allocated; needs halo record --objects"
    " --contents",
    NoOptions,
    group,
    needs=OBJECT_TRACE,
    hints=hints,
)
