"""Makes the configurations of one job: allocators alone, and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.shared.interleaved import Configuration
from halo.base.settings import Settings
from halo.binary.process.allocators import Allocator, preload
from halo.measure.runs.job import Job
from halo.plan.runtimes import under_plan

Planned = tuple[Path, Allocator]
"""A plan, and its next allocator."""


def make_configs(
    settings: Settings,
    job: Job,
    variables: Mapping[str, str],
    allocators: Sequence[Allocator],
    plans: Mapping[str, Planned],
) -> list[Configuration]:
    """A configuration for each allocator and each plan, by name, with those variables added."""
    command: list[str | Path] = [job.target.path, *job.arguments]
    environment = {**settings.environment, **variables}
    alone = [
        Configuration(it.name, command, preload(environment, [it.library])) for it in allocators
    ]
    planned = [
        Configuration(label, command, under_plan(environment, settings.runtime, plan, allocator))
        for label, (plan, allocator) in plans.items()
    ]
    return alone + planned
