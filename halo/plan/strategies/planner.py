"""Makes several plans from one profile; what they have in common is computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path

from halo.plan import Grouping, Plan, PlanOptions, Source, build_plan
from halo.plan.alignment import proof_of_program
from halo.plan.strategies.factory import make_grouping
from halo.record.profile import Profile, name_frames


class Planner:
    """The plans of a profile; `source` is its file, which the plans name."""

    def __init__(self, profile: Profile, source: Path | None = None) -> None:
        self.profile = profile
        self._source = Source(str(source.absolute()) if source else "", profile.fingerprint())
        self._names: dict[int, str] = {}
        self._group = cache(self._grouping)
        self._prove = cache(partial(proof_of_program, profile))

    def plan(self, strategy: str, options: Mapping[str, str]) -> Plan:
        """The plan of a strategy with these options, its own and those of `PlanOptions`."""
        mine, rest = split_options(options)
        grouping = self._group(strategy, frozenset(mine.items()))
        plan = build_plan(
            self.profile,
            grouping,
            rest,
            prove=lambda _, trust_loaded: self._prove(trust_loaded),
            names=self._named,
        )
        assert plan.review is not None
        return replace(plan, review=replace(plan.review, source=self._source))

    def _grouping(self, strategy: str, options: frozenset[tuple[str, str]]) -> Grouping:
        return make_grouping(self.profile, strategy, dict(options))

    def _named(self, profile: Profile, frames: Iterable[int]) -> Mapping[int, str]:
        self._names.update(name_frames(profile, set(frames) - self._names.keys()))
        return self._names


def split_options(options: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The options of a strategy, and those of the plan, which `PlanOptions` declares."""
    for_plan = {field.name for field in fields(PlanOptions)}
    mine = {key: value for key, value in options.items() if key not in for_plan}
    return mine, {key: value for key, value in options.items() if key in for_plan}
