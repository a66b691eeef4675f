"""Merges the parts of several processes into one profile, whatever the order they come in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from math import fsum
from pathlib import Path

from halo.errors import BadProfile
from halo.profile.model import (
    Module,
    Parameters,
    Profile,
    Recorder,
    Sampling,
    Totals,
)
from halo.profile.reading import read_profile
from halo.profile.simulation import SimulationMerger
from halo.profile.stacks import FrameKey, StackMerger
from halo.profile.streams import StreamsMerger
from halo.profile.usage import EdgeMerger, UsageMerger


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


def merge_profiles(parts: Sequence[Profile], program: str, args: tuple[str, ...]) -> Profile:
    """As `merge_parts`, for profiles already in memory (at least one)."""
    parameters = _common_parameters(parts)
    stacks, usage, weights = StackMerger(), UsageMerger(), EdgeMerger()
    streams: StreamsMerger[FrameKey] = StreamsMerger()
    simulations: SimulationMerger[FrameKey] = SimulationMerger()
    for part in parts:
        node_of = stacks.add(part)
        context_of = usage.add(part, node_of)
        weights.add(part, context_of)
        if part.hot_streams is not None:
            streams.add(part.hot_streams, stacks.frame_keys(part))
        if part.simulation is not None:
            simulations.add(part.simulation, context_of, stacks.frame_keys(part))
    numbered = stacks.numbered()
    contexts, context_ids = usage.numbered(numbered.node_ids)
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
        hot_streams=streams.numbered(numbered.frame_ids),
        simulation=simulations.numbered(context_ids, numbered.frame_ids),
        sampling=_add_samplings(parts),
        loaded=_loaded(parts, os.path.realpath(program)),
    )


def _loaded(parts: Sequence[Profile], program: str) -> tuple[Module, ...]:
    """The modules of all processes of the program; others that it started do not count."""
    mine = [part.loaded for part in parts if any(it.path == program for it in part.loaded)]
    return tuple(sorted({module for modules in mine for module in modules}))


def _common_parameters(parts: Sequence[Profile]) -> Parameters:
    found = {part.parameters for part in parts}
    if len(found) > 1:
        raise BadProfile("The parts were recorded with different parameters; record them alike.")
    return found.pop()


def _add_totals(items: Sequence[Totals]) -> Totals:
    """Adds the counts up; the peak is that of the largest process."""
    return Totals(
        allocations=sum(item.allocations for item in items),
        frees=sum(item.frees for item in items),
        accesses=sum(item.accesses for item in items),
        machine_accesses=sum(item.machine_accesses for item in items),
        peak_live_bytes=max(item.peak_live_bytes for item in items),
        untracked=sum(item.untracked for item in items),
    )


def _add_samplings(parts: Sequence[Profile]) -> Sampling | None:
    """Errors count by the weight of their part's edges; a part without is exact."""
    found = [part.sampling for part in parts if part.sampling is not None]
    if not found:
        return None
    weights = [sum(weight for _, _, weight in part.edges) for part in parts]
    errors = [part.sampling.edge_error if part.sampling else 0.0 for part in parts]
    error = fsum(e * w for e, w in zip(errors, weights, strict=True)) / max(1, sum(weights))
    return Sampling(sum(it.bursts for it in found), error)


def _add_recorders(items: Sequence[Recorder]) -> Recorder:
    """Adds time and instructions up; `fsum`, so that rounding ignores the order of the parts."""
    return Recorder(
        seconds=fsum(item.seconds for item in items),
        peak_memory_bytes=max(item.peak_memory_bytes for item in items),
        instructions=sum(item.instructions for item in items),
    )
