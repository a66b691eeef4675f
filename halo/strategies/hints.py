"""Hints for unmodified programs: objects are placed by values that are known when they are made."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path

from halo.captured import kinds_with_values, learn_hints, sentence, site_hints, survey
from halo.captured.recording import checked_trace, recording_of, without_contents
from halo.plan.hints.sites import SiteHints
from halo.profile import OBJECT_TRACE, Profile
from halo.settings import read_settings
from halo.strategies.base import Candidate, NoOptions, Prospect, Strategy, Subject, clause

_USER = "strategy hints"


def group(subject: Subject, options: NoOptions) -> list[Candidate]:
    """No groups: all other objects are left to the next allocator."""
    return []


def hints(subject: Subject, options: NoOptions) -> SiteHints:
    """The rules of the call sites that a hint helps, or why there are none.

    `BadInput` if the profile has no object trace.
    """
    return _learnt(_Input(subject.profile))


def prospect(subject: Subject) -> Prospect:
    """By the values that are known at call sites, and whether they differ between objects.

    `BadInput` if the profile has no object trace.
    """
    settings, profile = read_settings(), subject.profile
    trace = checked_trace(settings, profile, _USER)
    found = survey(profile)
    if not found.kinds:
        return Prospect(False, clause(sentence(found.refused)))
    with tempfile.TemporaryDirectory(prefix="halo-hints-") as name:
        recording = recording_of(settings, trace, Path(name))
        if not len(recording.contents.numbers):
            return Prospect(False, clause(without_contents(trace, _USER)))
        usable = kinds_with_values(found.kinds, recording)
        if not usable:
            refused = found.refused + learn_hints(found.kinds, recording).refused
            return Prospect(False, clause(sentence(refused)))
    sites = [site for kind in usable for site in kind.sites]
    share = sum(site.accesses for site in sites) / profile.accesses
    known = "1 call site has" if len(sites) == 1 else f"{len(sites)} call sites have"
    return Prospect(
        True, f"{known} known values that differ between objects, with {share:.0%} of the accesses"
    )


class _Input:
    """What the rules depend on; those of equal inputs are learnt once."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def __hash__(self) -> int:
        return hash(OBJECT_TRACE.of(self.profile))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Input) and self.profile is other.profile


@lru_cache(maxsize=2)
def _learnt(given: _Input) -> SiteHints:
    settings = read_settings()
    trace = checked_trace(settings, given.profile, _USER)
    found = survey(given.profile)
    if not found.kinds:
        return SiteHints((), sentence(found.refused))
    with tempfile.TemporaryDirectory(prefix="halo-hints-") as name:
        recording = recording_of(settings, trace, Path(name))
        if not len(recording.contents.numbers):
            return SiteHints((), without_contents(trace, _USER))
        learnt = learn_hints(found.kinds, recording)
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
