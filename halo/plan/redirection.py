"""Determines which call sites the runtime can redirect, and the obstacle at the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from halo.binary.elf import why_not_redirected
from halo.plan.callsites import UNMATCHABLE, CallSites, is_as_recorded
from halo.record.profile.model import Module

ObstacleSource = Callable[[Module, int], str]
"""The reason why the call with that return address cannot be redirected; empty if it can."""


def obstacle_in_file(module: Module, offset: int) -> str:
    """The obstacle by the bytes of the module's file, if it still is the recorded build."""
    if not is_as_recorded(module):
        return "module changed"
    return why_not_redirected(module.path, offset)


class Redirection:
    """Which call sites of a profile can be redirected; `obstacles` counts the others by cause.

    Sites in `immediate` call the allocator itself, which identifies them without redirection.
    """

    def __init__(
        self, sites: CallSites, source: ObstacleSource, immediate: Collection[int]
    ) -> None:
        self._sites = sites
        self._source = source
        self._known: dict[int, bool] = dict.fromkeys(immediate, True)
        self.obstacles: Counter[str] = Counter()

    def possible(self, site: int) -> bool:
        if site not in self._known:
            cause = "no build-id"
            if site != UNMATCHABLE:
                cause = self._source(*self._sites.sites[site])
            self._known[site] = not cause
            if cause:
                self.obstacles[cause] += 1
        return self._known[site]
