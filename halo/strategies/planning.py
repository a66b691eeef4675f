"""Steps that commands share: from recorded parts to a profile, from a profile to a plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from halo.errors import BadInput
from halo.files.atomic import move_file
from halo.files.destination import check_place, file_behind
from halo.plan import Plan, Source, build_plan, write_plan
from halo.profile import (
    OBJECT_TRACE,
    SOURCE_CALLS,
    ObjectTrace,
    Profile,
    merge_parts,
    read_profile,
    with_digests,
    write_profile,
)
from halo.profile.collection import without_collection
from halo.strategies import make_grouping
from halo.strategies.factory import refers_to_contexts
from halo.strategies.planner import Planner, split_options
from halo.transfer import Carried, recorded_calls


def merge_recording(
    parts: Sequence[Path], program: Path, arguments: Sequence[str], path: Path
) -> Profile:
    """Merges the parts of one recording and writes the profile, with its object trace beside."""
    with without_collection():
        profile = _with_calls(with_digests(merge_parts(parts, program, arguments)))
    check_place(path)
    trace = OBJECT_TRACE.of(profile)
    if trace is not None:
        profile = replace(profile, sections={**profile.sections, **_kept(trace, path)})
    with without_collection():
        write_profile(profile, path)
    return profile


def _with_calls(profile: Profile) -> Profile:
    """The profile with the program's calls in its source, while the recorded build is there."""
    calls = recorded_calls(profile, os.path.realpath(profile.program))
    if calls is None:
        return profile
    return replace(profile, sections={**profile.sections, SOURCE_CALLS.key: calls})


def _kept(trace: ObjectTrace, profile: Path) -> dict[str, ObjectTrace]:
    """The section of the trace, which becomes a file beside the profile."""
    whole = profile.absolute()
    own = whole.with_suffix("") if whole.suffix == ".profile" else whole
    place = own.with_name(f"{own.name}.objects")
    if file_behind(profile) is None or whole.suffix == ".objects":
        raise BadInput(
            f"An object trace is kept beside the profile, but {profile} leaves it no place; give"
            " the profile the name of a file that does not end in .objects."
        )
    move_file(Path(trace.file), place)
    return {OBJECT_TRACE.key: ObjectTrace(str(place), trace.contexts, place.stat().st_size)}


def make_plan(
    profile: Profile,
    strategy: str,
    options: Mapping[str, str],
    carry: Callable[[Profile], Carried] | None = None,
    source: Path | None = None,
) -> Plan:
    """Groups the profile's contexts by a strategy and builds the plan that identifies them.

    `options` holds the options of both; those that `PlanOptions` does not declare go to the
    strategy. `carry` transfers the profile to another build than the recorded one. The plan's
    review names `source`, the file of the profile.
    """
    if carry is None:
        return Planner(profile, source).plan(strategy, options)
    plan = _carried_plan(profile, strategy, options, carry)
    assert plan.review is not None
    origin = Source(str(source.absolute()) if source else "", profile.fingerprint())
    return replace(plan, review=replace(plan.review, source=origin))


def _carried_plan(
    profile: Profile,
    strategy: str,
    options: Mapping[str, str],
    carry: Callable[[Profile], Carried],
) -> Plan:
    mine, rest = split_options(options)
    carried = carry(profile)
    if refers_to_contexts(strategy):
        grouping = carried.renumbered(make_grouping(profile, strategy, mine))
    else:
        grouping = make_grouping(carried.unified, strategy, mine)
    return build_plan(carried.profile, carried.grouping(grouping), rest)


def save_plan(plan: Plan, path: Path) -> None:
    """Writes the compact and the reviewable form of the plan."""
    check_place(path)
    write_plan(plan, path)


__all__ = ["make_plan", "merge_recording", "read_profile", "save_plan"]
