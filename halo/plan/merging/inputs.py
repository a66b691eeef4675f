"""One profile of several recordings of one build of a program, from any machines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from halo.base.errors import BadInput, BadProfile
from halo.plan.merging.modules import (
    Builds,
    canonical_modules,
    contexts_through,
    differing_builds,
    library_name,
    with_modules,
    without_absent,
    without_outer_frames,
)
from halo.plan.merging.weights import repeats_of
from halo.record.profile import (
    INPUTS,
    InputRun,
    Profile,
    merge_profiles,
    profile_json,
    read_profile,
    repeated,
)
from halo.record.profile.call_stacks import build_of
from halo.record.profile.sections.section import Part, Section

MAX_COUNT = 1 << 53
"""Counts of a merged profile are below this, so that every reader of JSON has them exactly."""


@dataclass(frozen=True)
class Input:
    """A recording, where it is from, and its weight."""

    path: Path
    profile: Profile
    weight: float = 1.0


@dataclass(frozen=True)
class LeftOut:
    """A section that the merged profile does not have, and the reason as a sentence."""

    section: str
    reason: str


@dataclass(frozen=True)
class Apart:
    """Contexts of a merged profile that go through libraries of unlike builds, so match no other.

    `accesses` is their share of all accesses, 0 to 1.
    """

    libraries: tuple[str, ...]
    contexts: int
    accesses: float


@dataclass(frozen=True)
class Merged:
    """A merged profile; `repeats` are by input, `apart` is None if no context is concerned."""

    profile: Profile
    repeats: tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()
    apart: Apart | None = None


def read_inputs(paths: Sequence[Path], weights: Sequence[float]) -> list[Input]:
    """The inputs in those files. Raises `BadInput` if a recording is given twice.

    A copy counts as the same recording: no two recordings take the same time.
    """
    found: dict[bytes, Path] = {}
    inputs = []
    for path, weight in zip(paths, weights, strict=True):
        inputs.append(Input(path, read_profile(path), weight))
        # Not of the file, which may be a pipe.
        text = json.dumps(profile_json(inputs[-1].profile))
        content = hashlib.sha256(text.encode()).digest()
        if content in found:
            raise BadInput(f"{found[content]} and {path} are the same recording; give each once.")
        found[content] = path
    return inputs


def alike(inputs: Sequence[Input]) -> tuple[list[Input], Builds]:
    """The inputs with the same modules for the same builds, and the builds that differ.

    Raises `BadInput` if they are of different programs or builds, or recorded with different
    parameters, or if one has no accesses.
    """
    program = _program_of(inputs)
    _check_parameters(inputs)
    for one in inputs:
        if not one.profile.accesses:
            raise BadInput(
                f"{one.path} has no accesses, so it cannot be weighed; record a longer run."
            )
    profiles = [one.profile for one in inputs]
    modules, differing = canonical_modules(profiles), differing_builds(profiles)
    path = modules[program].path
    found = []
    for one in inputs:
        profile = with_modules(one.profile, modules)
        if differing:
            profile = without_outer_frames(without_absent(profile, differing), differing, program)
        if INPUTS.of(profile) is None:
            run = InputRun(profile.args, profile.accesses)
            profile = replace(profile, sections={**profile.sections, INPUTS.key: (run,)})
        found.append(replace(one, profile=replace(profile, program=path)))
    return found, differing


def merge_inputs(inputs: Sequence[Input]) -> Merged:
    """The merged profile of at least two inputs; each counts by its weight in accesses.

    Sections that do not fit together, or that only some of the inputs have, are left out. Raises
    `BadInput` as `alike`, and if the inputs differ too much in length.
    """
    found, differing = alike(inputs)
    merged = merge_alike(found)
    through = contexts_through(merged.profile, differing)
    if not through:
        return merged
    contexts = merged.profile.contexts
    modules = merged.profile.modules
    names = {library_name(module.path) for module in modules if module.build_id in differing}
    share = sum(contexts[at].accesses for at in through) / merged.profile.accesses
    return replace(merged, apart=Apart(tuple(sorted(names)), len(through), share))


def merge_alike(inputs: Sequence[Input]) -> Merged:
    """As `merge_inputs`, for inputs that `alike` returned."""
    repeats = repeats_of([it.profile.accesses for it in inputs], [it.weight for it in inputs])
    _check_size(inputs, repeats)
    sections = _Sections(inputs)
    profile = merge_profiles(
        [repeated(one.profile, times) for one, times in zip(inputs, repeats, strict=True)],
        inputs[0].profile.program,
        (),
        sections.merge,
    )
    return Merged(profile, tuple(repeats), tuple(sections.left_out))


class _Sections:
    """Merges sections, and collects those that cannot be merged."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = inputs
        self.left_out: list[LeftOut] = []

    def merge(self, section: Section[Any], parts: Sequence[Part], program: str) -> Any:
        without = [one.path for one in self._inputs if section.of(one.profile) is None]
        if section.needs_all and without:
            if len(without) < len(self._inputs):
                self._leave_out(section, f"{without[0]} does not have it.")
            return None
        try:
            return section.merge(parts, program)
        except BadProfile as error:
            self._leave_out(section, str(error))
            return None

    def _leave_out(self, section: Section[Any], reason: str) -> None:
        self.left_out.append(LeftOut(section.key, reason))


def _program_of(inputs: Sequence[Input]) -> str:
    """The build-id of the program, which all inputs share."""
    builds = {build_of(one.profile): one for one in reversed(inputs)}
    builds.pop("", None)
    if not builds:
        raise BadInput(
            f"{inputs[0].path} has no build-id of its program, so it is unknown whether the"
            " recordings are of one build; link the program with -Wl,--build-id and record again."
        )
    build = build_of(inputs[0].profile) or next(iter(builds))
    first = builds[build]
    for one in inputs:
        # The program's path may be a link on another machine, so that its module is not known.
        own = build_of(one.profile)
        if own == build or (not own and build in {it.build_id for it in one.profile.modules}):
            continue
        name = PurePath(first.profile.program).name
        if name == PurePath(one.profile.program).name:
            raise BadInput(
                f"{first.path} and {one.path} are of different builds of {name}; record both with"
                " one build."
            )
        raise BadInput(
            f"{first.path} and {one.path} are of different programs, {first.profile.program} and"
            f" {one.profile.program}; merge recordings of one program."
        )
    return build


def _check_parameters(inputs: Sequence[Input]) -> None:
    first = inputs[0]
    for one in inputs[1:]:
        if one.profile.parameters != first.profile.parameters:
            raise BadInput(
                f"{first.path} and {one.path} were recorded with different --distance or"
                " --max-object; record both alike."
            )


def _check_size(inputs: Sequence[Input], repeats: Sequence[int]) -> None:
    largest = 0
    for one, times in zip(inputs, repeats, strict=True):
        totals = one.profile.totals
        volume = sum(context.bytes for context in one.profile.contexts)
        counts = (totals.accesses, totals.machine_accesses, one.profile.accesses, volume)
        largest += times * max(counts)
    if largest >= MAX_COUNT:
        least = min(inputs, key=lambda one: one.profile.accesses / one.weight)
        raise BadInput(
            f"{least.path} has only {least.profile.accesses:,} accesses, too few to weigh against"
            " the other inputs; leave it out, or record a longer run."
        )
