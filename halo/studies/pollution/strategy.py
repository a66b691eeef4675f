"""Confines allocation contexts that pollute the last-level cache (NightWatch, section 4).

The classes are exact, from the recorded accesses; the watch (docs/live-watch.md) changes them.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from halo.base.errors import BadInput
from halo.base.settings import read_settings
from halo.plan.layout import MAX_OBJECT_LIMIT, MAX_RING, MIN_RING
from halo.plan.model import Spans
from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Prospect, Strategy, StrategyInput, clause
from halo.record.profile import OBJECT_TRACE, ObjectTrace, Profile
from halo.record.simulation import machine_text
from halo.studies.pollution.locality.document import ContextLocality, Locality
from halo.studies.pollution.locality.run import Options as LocalityOptions
from halo.studies.pollution.locality.run import check_built, locality_of
from halo.studies.pollution.locality.verdict import judge

_PAGE = 4096
_SHARE = 8  # of the cache: 32 of the paper's 256 colours (section 6.1)
_SIXTEENTHS = 16
_LINES_OF_PAGE = 64


@dataclass(frozen=True)
class Options:
    machine: str = option("", "name of the machine or its file (default: this machine)")
    ring: int = option(
        0, "bytes of a confined context's ring; 0: an eighth of the cache", 0, MAX_RING
    )
    watched: bool = option(True, "give spans to contexts that do not pollute, too, for the watch")


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """One group for each context with objects above 64 KiB, those with most misses first.

    Groups of polluting contexts are confined. `BadInput` if the profile has no object trace.
    """
    trace = _recorded(subject.profile)
    found = _locality(trace.file, trace.bytes, options.machine)
    ring = options.ring or found.cache_bytes // _SHARE
    ring = min(max(ring // _PAGE * _PAGE, MIN_RING), MAX_RING)
    polluting = {number for number, _ in judge(found).polluting}
    groups = []
    for at, number in _large(subject, trace):
        context = found.contexts[number] if number < len(found.contexts) else None
        pollutes = number in polluting
        if not pollutes and not options.watched:
            continue
        spans = Spans(ring, pollutes, _density(context))
        groups.append((context.misses if context else 0, at, spans, _reason(context, pollutes)))
    groups.sort(key=lambda it: (-it[0], it[1]))
    return [ProposedGroup([at], reason, spans=spans) for _, at, spans, reason in groups]


def prospect(subject: StrategyInput) -> Prospect:
    """By the verdict of `halo study locality`, without a replay if no context has large objects.

    `BadInput` if the profile has no object trace.
    """
    trace = _recorded(subject.profile)
    large = {number for _, number in _large(subject, trace)}
    without = f"no objects over {MAX_OBJECT_LIMIT:,} bytes"
    if not large:
        return Prospect(False, f"the contexts have {without}")
    verdict = judge(_locality(trace.file, trace.bytes, ""))
    if not verdict.pollutes:
        return Prospect(False, clause(verdict.sentence))
    if large.isdisjoint(number for number, _ in verdict.polluting):
        return Prospect(False, f"the contexts that pollute the last-level cache have {without}")
    return Prospect(True, clause(verdict.sentence))


def _recorded(profile: Profile) -> ObjectTrace:
    trace = OBJECT_TRACE.of(profile)
    if trace is None:
        raise BadInput(
            "The profile has no object trace, which strategy confine needs; record it with:"
            " halo record --objects --max-object 268435455"
        )
    return trace


def _large(subject: StrategyInput, trace: ObjectTrace) -> list[tuple[int, int]]:
    """Contexts with objects that may have spans, and their numbers in the trace."""
    contexts = subject.profile.contexts
    return [
        (at, number) for at, number in trace.contexts if contexts[at].max_size > MAX_OBJECT_LIMIT
    ]


def _density(context: ContextLocality | None) -> int:
    lines = context.lines_of_visit if context else 0
    return round(min(lines, _LINES_OF_PAGE) * _SIXTEENTHS)


def _reason(context: ContextLocality | None, pollutes: bool) -> str:
    if context is None or context.accesses == 0:
        return "large objects that the last level was not asked for"
    rate = context.misses / context.accesses
    return f"{'pollutes' if pollutes else 'does not pollute'}: {rate:.0%} of accesses miss"


@lru_cache(maxsize=4)
def _locality(trace: str, size: int, machine: str) -> Locality:
    """By file and size, which tell recordings apart."""
    settings = read_settings()
    check_built(settings)
    text = machine_text(Path(machine)) if machine else ""
    with tempfile.TemporaryDirectory(prefix="halo-confine-") as folder:
        return locality_of(settings, Path(trace), LocalityOptions(text), Path(folder))


STRATEGY = Strategy(
    "confine",
    "large objects of contexts that pollute the last-level cache in small rings",
    Options,
    group,
    needs=OBJECT_TRACE,
)
