"""Modules of profiles from several machines: one name for each build, and what to do with others.

A build-id identifies a module, whatever its path. Libraries of unlike builds have unlike code, so
their frames match nothing. But the C library calls every program's `main`, so its frames are at the
outer end of nearly all stacks. There they distinguish nothing, and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import PurePath

from halo.binary.elf import build_id_of
from halo.record.profile import LOADED, Module, Profile
from halo.record.profile.model import Node

Builds = frozenset[str]
"""Build-ids."""


def canonical_modules(profiles: Sequence[Profile]) -> dict[str, Module]:
    """By build-id, the module under one path: a file of that build here, if there is one."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for profile in profiles:
        for module in (*profile.modules, *(LOADED.of(profile) or ())):
            if module.build_id:
                paths[module.build_id].add(module.path)
    return {build: Module(_best(build, sorted(found)), build) for build, found in paths.items()}


def _best(build: str, paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    return next((path for path in paths if build_id_of(path) == build), paths[0])


def with_modules(profile: Profile, known: Mapping[str, Module]) -> Profile:
    """The profile with the canonical modules; those without a build-id stay."""

    def renamed(modules: Sequence[Module]) -> tuple[Module, ...]:
        return tuple(known.get(module.build_id, module) for module in modules)

    loaded = LOADED.of(profile)
    sections = dict(profile.sections)
    if loaded is not None:
        sections[LOADED.key] = tuple(sorted(set(renamed(loaded))))
    return replace(profile, modules=renamed(profile.modules), sections=sections)


def differing_builds(profiles: Sequence[Profile]) -> Builds:
    """The builds of libraries of which two profiles have unlike builds, as by unlike machines.

    Libraries are compared by file name up to `.so`. A library that only one profile has does not
    differ, nor do two libraries of one name that both profiles have.
    """
    found = [_builds_by_name(profile) for profile in profiles]
    unlike: set[str] = set()
    for one, other in combinations(found, 2):
        for name in one.keys() & other.keys():
            mine, others = one[name] - other[name], other[name] - one[name]
            if mine and others:
                unlike |= mine | others
    return frozenset(unlike)


def without_absent(profile: Profile, builds: Builds) -> Profile:
    """The profile whose `loaded` lacks libraries of these builds that are not here.

    The alignment proof needs the code of all loaded modules. It then holds for the builds that are
    here; at run time, blocks are aligned to 16 bytes in a process that has another one.
    """
    loaded = LOADED.of(profile)
    if loaded is None:
        return profile
    kept = [it for it in loaded if it.build_id not in builds or build_id_of(it.path) == it.build_id]
    return replace(profile, sections={**profile.sections, LOADED.key: tuple(kept)})


def library_name(path: str) -> str:
    """The file name without the version."""
    return PurePath(path).name.partition(".so")[0]


def _builds_by_name(profile: Profile) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in profile.modules:
        if module.build_id:
            found[library_name(module.path)].add(module.build_id)
    return found


def without_outer_frames(profile: Profile, builds: Builds, program: str) -> Profile:
    """The profile whose stacks end before outer frames in these builds.

    A frame in the program's build outside of those goes, too: `_start`. A stack that would lose all
    frames stays as it is.
    """
    of_frame = [
        profile.modules[frame.module].build_id if frame.module >= 0 else ""
        for frame in profile.frames
    ]
    nodes: list[Node] = [(0, -1)]
    known: dict[Node, int] = {}
    contexts = []
    for number, context in enumerate(profile.contexts):
        stack = list(profile.stack(number))
        node = 0
        for frame in reversed(stack[: _kept([of_frame[it] for it in stack], builds, program)]):
            link = (node, frame)
            if link not in known:
                known[link] = len(nodes)
                nodes.append(link)
            node = known[link]
        contexts.append(replace(context, node=node))
    return replace(profile, nodes=tuple(nodes), contexts=tuple(contexts))


def _kept(stack: Sequence[str], builds: Builds, program: str) -> int:
    """The number of frames that stay of a stack given by its builds, the innermost first."""
    end = len(stack)
    if end > 1 and stack[end - 1] == program and stack[end - 2] in builds:
        end -= 1
    while end and stack[end - 1] in builds:
        end -= 1
    return end or len(stack)


def contexts_through(profile: Profile, builds: Builds) -> list[int]:
    """The contexts whose stacks have a frame in one of these builds."""
    inside = [
        frame.module >= 0 and profile.modules[frame.module].build_id in builds
        for frame in profile.frames
    ]
    return [
        at
        for at in range(len(profile.contexts))
        if any(inside[frame] for frame in profile.stack(at))
    ]
