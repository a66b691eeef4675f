"""From the parts of a recording to its profile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.files.atomic import move_file
from halo.base.files.destination import check_place, file_behind
from halo.record.profile import (
    OBJECT_TRACE,
    SOURCE_CALLS,
    ObjectTrace,
    Profile,
    merge_parts,
    with_digests,
    write_profile,
)
from halo.record.profile.collection import without_collection
from halo.record.transfer import recorded_calls


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
