"""From a profile to a plan, by a strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from halo.base.files.destination import check_place
from halo.plan import Plan, Source, build_plan, write_plan
from halo.plan.carried_groups import carried_grouping, renumbered
from halo.plan.strategies.factory import make_grouping, refers_to_contexts
from halo.plan.strategies.planner import Planner, split_options
from halo.record.profile import Profile
from halo.record.transfer import Carried


def make_plan(
    profile: Profile,
    strategy: str,
    options: Mapping[str, str],
    carry: Callable[[Profile], Carried] | None = None,
    source: Path | None = None,
) -> Plan:
    """Groups the profile's contexts by a strategy and builds the plan that identifies them.

    `options` holds the options of both; those that `PlanOptions` does not declare go to the
    strategy. `carry` transfers the profile to another build than the recorded one. The plan's
    review names `source`, the file of the profile.
    """
    if carry is None:
        return Planner(profile, source).plan(strategy, options)
    plan = _carried_plan(profile, strategy, options, carry)
    assert plan.review is not None
    origin = Source(str(source.absolute()) if source else "", profile.fingerprint())
    return replace(plan, review=replace(plan.review, source=origin))


def _carried_plan(
    profile: Profile,
    strategy: str,
    options: Mapping[str, str],
    carry: Callable[[Profile], Carried],
) -> Plan:
    mine, rest = split_options(options)
    carried = carry(profile)
    if refers_to_contexts(strategy):
        grouping = renumbered(carried, make_grouping(profile, strategy, mine))
    else:
        grouping = make_grouping(carried.unified, strategy, mine)
    return build_plan(carried.profile, carried_grouping(carried, grouping), rest)


def save_plan(plan: Plan, path: Path) -> None:
    """Writes the compact and the reviewable form of the plan."""
    check_place(path)
    write_plan(plan, path)
