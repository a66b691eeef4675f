"""Merges the parts of several processes into one profile, independently of their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import fsum
from pathlib import Path
from typing import Any

from halo.base.errors import BadProfile
from halo.record.profile.model import Parameters, Profile, Recorder, Totals
from halo.record.profile.reader import read_profile
from halo.record.profile.sections.registry import SECTIONS
from halo.record.profile.sections.section import Part, Section
from halo.record.profile.stacks import StackMerger
from halo.record.profile.usage import EdgeMerger, UsageMerger

MergeSection = Callable[[Section[Any], Sequence[Part], str], Any]
"""Returns a section of all parts of that program; None to leave it out."""


def _every_section(section: Section[Any], parts: Sequence[Part], program: str) -> Any:
    return section.merge(parts, program)


def merge_parts(
    parts: Sequence[str | Path], program: str | Path, args: Iterable[str] = ()
) -> Profile:
    """One profile of all parts: stacks and contexts unified, counts added up, peaks maximised.

    The result does not depend on the order of `parts`: modules, frames, nodes and contexts are
    numbered canonically (contexts by accesses, the hottest is 0). Missing build-ids are read from
    the modules' files. Raises `BadProfile` for an unreadable part, for no part at all, and for
    parts recorded with different parameters.
    """
    if not parts:
        raise BadProfile(f"The recording of {program} left no profile behind.")
    return merge_profiles([read_profile(part) for part in parts], str(program), tuple(args))


def merge_profiles(
    parts: Sequence[Profile],
    program: str,
    args: tuple[str, ...],
    merge_section: MergeSection = _every_section,
) -> Profile:
    """As `merge_parts`, for profiles already in memory (at least one)."""
    parameters = _common_parameters(parts)
    stacks, usage, weights = StackMerger(), UsageMerger(), EdgeMerger()
    context_of = [usage.add(part, stacks.add(part)) for part in parts]
    for part, numbers in zip(parts, context_of, strict=True):
        weights.add(part, numbers)
    numbered = stacks.numbered()
    contexts, context_ids = usage.numbered(numbered.node_ids)
    merged = [
        Part(
            part,
            [context_ids[number] for number in numbers],
            [numbered.frame_ids[key] for key in stacks.frame_keys(part)],
            len(contexts),
        )
        for part, numbers in zip(parts, context_of, strict=True)
    ]
    sections = {section.key: merge_section(section, merged, program) for section in SECTIONS}
    return Profile(
        producer="+".join(sorted({part.producer for part in parts})),
        parameters=parameters,
        modules=numbered.modules,
        frames=numbered.frames,
        nodes=numbered.nodes,
        contexts=contexts,
        edges=weights.numbered(context_ids),
        totals=_add_totals([part.totals for part in parts]),
        recorder=_add_recorders([part.recorder for part in parts]),
        program=program,
        args=args,
        sections={key: value for key, value in sections.items() if value is not None},
    )


def _common_parameters(parts: Sequence[Profile]) -> Parameters:
    found = {part.parameters for part in parts}
    if len(found) > 1:
        raise BadProfile("The recordings have different parameters; record them alike.")
    return found.pop()


def _add_totals(items: Sequence[Totals]) -> Totals:
    """Adds the counts up; live bytes are each those of the process that has most."""
    return Totals(
        allocations=sum(item.allocations for item in items),
        frees=sum(item.frees for item in items),
        accesses=sum(item.accesses for item in items),
        machine_accesses=sum(item.machine_accesses for item in items),
        peak_live_bytes=max(item.peak_live_bytes for item in items),
        final_live_bytes=max(item.final_live_bytes for item in items),
        untracked=sum(item.untracked for item in items),
    )


def _add_recorders(items: Sequence[Recorder]) -> Recorder:
    """Adds time and instructions up; `fsum`, so that rounding ignores the order of the parts."""
    return Recorder(
        seconds=fsum(item.seconds for item in items),
        peak_memory_bytes=max(item.peak_memory_bytes for item in items),
        instructions=sum(item.instructions for item in items),
    )
