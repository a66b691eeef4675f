"""`halo hints --captured`: what a recording with contents tells about each call site."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import numpy as np
from msgspec import structs

from halo.analyses.names import first_names
from halo.captured.features import Table
from halo.captured.fields import fields_of
from halo.captured.learn import Learnt, learn_hints
from halo.captured.recording import Recording, checked_trace, communities_of, without_contents
from halo.captured.refusals import MIN_OBJECTS, Refusal
from halo.captured.rules import site_hints
from halo.captured.sites import CallSite, Field, Kind, Survey, SurveyedSite, survey
from halo.errors import BadInput
from halo.hints.contexts import with_shared_widths
from halo.hints.features import Place
from halo.hints.forest import Learner, check_learner
from halo.hints.kinds import Kind as Type
from halo.hints.run import HintOptions
from halo.hints.study import Samples, Study, unjudged
from halo.hints.verdict import Verdict
from halo.layouts.replays import contents_of
from halo.locations import Load, value_at
from halo.locations.text import text_of
from halo.profile import Profile, name_frames
from halo.schema.hints import HintDimension, HintLocation, HintsDocument, TypeHint
from halo.settings import Settings

_REASONS = {
    Verdict.USE_HINT.value: "Values that are known at the call predict the community.",
    Verdict.NOT_AT_BIRTH.value: "What predicts the community is not known at the call.",
}
"""Other sentences than about a program whose source is there."""
_POINTER_BYTES = 8
_USER = "halo hints --captured"


@dataclass(frozen=True)
class _Subject:
    """Objects that are studied together: of one kind, or of a call site without known fields."""

    name: str
    sites: tuple[SurveyedSite, ...]
    kind: Kind | None

    @property
    def contexts(self) -> tuple[int, ...]:
        return tuple(at for site in self.sites for at in site.contexts)

    @property
    def allocations(self) -> int:
        return sum(site.allocations for site in self.sites)

    @property
    def accesses(self) -> int:
        return sum(site.accesses for site in self.sites)

    @property
    def call_sites(self) -> list[CallSite]:
        return [one.site for one in self.sites if one.site]

    def knows(self, field: Field) -> bool:
        """Whether all call sites have the field's value."""
        sites = self.call_sites if self.kind else []
        place = field.offset, field.width
        return bool(sites) and all(value_at(site.stores, *place) for site in sites)


def find_captured_hints(
    settings: Settings,
    profile: Profile,
    options: HintOptions,
    folder: Path,
    tell: Callable[[str], None],
) -> HintsDocument:
    """The verdicts about the call sites of a recorded program, and the rules of a plan for them.

    `options.types` is a glob of call sites, and `options.depth` has no meaning. `tell` hears each
    name before its study; `folder` is for files. `BadInput` if the recording has no contents or no
    accesses, or if the glob matches nothing; `BadTrace` if the object trace is not the profile's.
    """
    check_learner()
    trace = checked_trace(settings, profile, _USER)
    contents = contents_of(settings, Path(trace.file), folder)
    if not len(contents.numbers):
        raise BadInput(without_contents(trace, _USER))
    layout, found = communities_of(settings, trace, folder)
    if not found.accessed_objects:
        raise BadInput(
            f"{trace.file} has no accesses to heap objects, so there is nothing to place."
        )
    recording = Recording(contents, trace, lambda: layout)
    surveyed = survey(profile)
    subjects = _subjects(profile, surveyed)
    chosen = [one for one in subjects if fnmatchcase(one.name, options.types)]
    if not chosen:
        names = first_names([one.name for one in subjects])
        raise BadInput(f"No call site matches {options.types}; the recording has: {names}.")
    report = _Report(profile, recording, subjects, learn_hints(surveyed.kinds, recording), options)
    return HintsDocument(
        program=profile.program,
        arguments=profile.args,
        seed=options.seed,
        complete=found.complete,
        types=tuple(report.judge(one, tell) for one in chosen),
        captured=True,
    )


def _subjects(profile: Profile, surveyed: Survey) -> list[_Subject]:
    """All objects of the profile, the most accessed first."""
    by_contexts = {one.contexts: one for one in surveyed.sites}
    found = []
    for kind in surveyed.kinds:
        sites = [by_contexts.pop(site.contexts) for site in kind.sites]
        sites.sort(key=lambda one: -one.accesses)
        found.append(_Subject(_name(profile, sites[0].frame), tuple(sites), kind))
    found += [_Subject(_name(profile, one.frame), (one,), None) for one in by_contexts.values()]
    return sorted(found, key=lambda one: (-one.accesses, one.name))


def _name(profile: Profile, frame: int) -> str:
    """The module and the return address of a call site."""
    if frame < 0 or profile.frames[frame].module < 0:
        return "an unknown caller"
    at = profile.frames[frame]
    return f"{Path(profile.modules[at.module].path).name}+{at.offset:#x}"


class _Report:
    def __init__(
        self,
        profile: Profile,
        recording: Recording,
        subjects: Sequence[_Subject],
        learnt: Learnt,
        options: HintOptions,
    ) -> None:
        self._profile = profile
        self._recording = recording
        self._level = options.level
        self._learner = Learner(options.seed, len(os.sched_getaffinity(0)), options.trees)
        studied = [one for one in subjects if one.sites[0].refusal is not Refusal.RARE]
        self._tables = {one.contexts: self._table(one) for one in studied}
        self._by_context = {
            number: self._tables[one.contexts]
            for one in studied
            for number in recording.numbers_of(one.contexts)
        }
        self._rules = {rule.contexts: rule for rule in site_hints(learnt.hints)}
        owners = {one.kind.name: one.name for one in subjects if one.kind}
        hints = with_shared_widths([one.hint for one in learnt.hints])
        self._hints = {
            one.kind.name: tuple(
                HintDimension(d.field, d.width, owners[d.owner], d.path, d.scalar) for d in hint
            )
            for one, hint in zip(learnt.hints, hints, strict=True)
        }
        self._refusals = {kind.name: why.of_site() for kind, why in learnt.refusals}

    def _table(self, subject: _Subject) -> Table:
        size = subject.kind.bytes if subject.kind else 0
        rows, places = self._recording.placed(self._recording.rows_of(subject.contexts, size))
        known = frozenset(subject.kind.fields if subject.kind else ())
        stores = [site.stores for site in subject.call_sites]
        fields = fields_of(known, stores, self._recording.contents, rows)
        return Table(
            subject.name, self._recording, rows, places, {one: subject.knows(one) for one in fields}
        )

    def judge(self, subject: _Subject, tell: Callable[[str], None]) -> TypeHint:
        """The verdict about the objects, with the places of their values and their rule."""
        sizes = [it for at in subject.contexts for it in self._profile.contexts[at].sizes]
        total = sum(size * count for size, count in sizes)
        count = subject.allocations
        kind = Type(subject.name, count, count, total, subject.accesses, 0, 0, 0, 0)
        table = self._tables.get(subject.contexts)
        if table is None:
            return self._with_rule(subject, unjudged(kind, Refusal.RARE.of_site()))
        if len(table.rows) < MIN_OBJECTS:
            return self._with_rule(subject, unjudged(kind, Refusal.FEW.of_site()))
        tell(subject.name)
        features = [*table.primary, *table.secondary(self._by_context), *table.meta]
        study = Study(kind, partial(table.of, features), tuple, self._learner, self._level)
        found = self._with_rule(subject, study.judge(self._samples(table)))
        places = {one.name: one.place for one in features if one.at_birth}
        described = tuple(
            structs.replace(one, locations=_locations(self._profile, subject, places.get(one.name)))
            for one in found.features
        )
        why = _REASONS.get(found.verdict, found.why)
        return structs.replace(found, features=described, why=why)

    def _samples(self, table: Table) -> Samples:
        numbers = self._recording.contents.numbers[table.rows].astype(np.int64)
        return Samples(numbers, self._recording.layout.communities[:, table.places])

    def _with_rule(self, subject: _Subject, found: TypeHint) -> TypeHint:
        """With what a plan does for these objects, and their call sites."""
        frames = [site.frame for site in subject.sites if site.frame >= 0]
        names = name_frames(self._profile, frames)
        kind = subject.kind.name if subject.kind else ""
        hint = self._hints.get(kind, ())
        rule = self._rules.get(subject.call_sites[0].contexts) if subject.call_sites else None
        no_rule = self._refusals.get(kind, subject.sites[0].obstacle)
        return structs.replace(
            found,
            hint=hint if rule else (),
            call="",
            places=tuple(names[frame] for frame in frames),
            rule=rule.reason if rule else "",
            no_rule="" if rule else no_rule,
        )


def _locations(
    profile: Profile, subject: _Subject, place: Place | None
) -> tuple[HintLocation, ...]:
    """Where each call site has the value of a known field; empty for facts of an object."""
    if place is None or not place.path:
        return ()
    width = int(place.scalar[1:]) // 8
    found = []
    for site in subject.sites:
        assert site.site is not None  # as a kind has known fields
        behind = place.path[1:]
        program = value_at(site.site.stores, place.path[0], _POINTER_BYTES if behind else width)
        assert program is not None
        if behind:
            program = (*program, Load(width, place.scalar[0] == "i", behind[0]))
        found.append(HintLocation(_name(profile, site.frame), text_of(program, width)))
    return tuple(found)
