"""A pool for each call site of malloc: a control that measures the value of the outer frames."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from halo.plan.options import option
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput
from halo.record.profile import Profile


@dataclass(frozen=True)
class Options:
    coverage: float = option(0.9, "share of all accesses that the groups cover", 0, 1)
    max_groups: int = option(256, "maximum number of groups, of the hottest sites", 1, 4096)


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """The hot contexts grouped by their innermost frame, the caller of malloc; hottest first."""
    profile = subject.profile
    sites: defaultdict[int, list[int]] = defaultdict(list)
    for context in subject.graph(options.coverage).nodes:
        sites[next(profile.stack(context), -1)].append(context)
    ranked = sorted(
        sites.items(), key=lambda item: -sum(profile.contexts[at].accesses for at in item[1])
    )
    return [
        ProposedGroup(contexts, f"allocated at {_name(profile, frame)}")
        for frame, contexts in ranked[: options.max_groups]
    ]


def _name(profile: Profile, frame: int) -> str:
    if frame < 0 or profile.frames[frame].module < 0:
        return "an unknown place"
    site = profile.frames[frame]
    return f"{Path(profile.modules[site.module].path).name}+{site.offset:#x}"


STRATEGY = Strategy("per-site", "one group for each caller of malloc", Options, group)
