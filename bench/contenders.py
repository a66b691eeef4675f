"""Ways to run one job: over each of some allocators alone, and under plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from interleaved import Way

from halo.allocators import Allocator, preload, under_plan
from halo.settings import Settings
from halo.trials.job import Job

Planned = tuple[Path, Allocator]
"""A plan, and the allocator of what it does not group."""


def make_ways(
    settings: Settings,
    job: Job,
    variables: Mapping[str, str],
    allocators: Sequence[Allocator],
    plans: Mapping[str, Planned],
) -> list[Way]:
    """A way for each allocator and each plan, by their names, with those variables added."""
    command: list[str | Path] = [job.target.path, *job.arguments]
    environment = {**settings.environment, **variables}
    alone = [Way(it.name, command, preload(environment, [it.library])) for it in allocators]
    planned = [
        Way(label, command, under_plan(environment, settings.runtime, plan, allocator))
        for label, (plan, allocator) in plans.items()
    ]
    return alone + planned
