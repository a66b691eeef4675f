"""Plans that draw a group at random for each small object (HALO, section 5.2, figure 15)."""

from __future__ import annotations

from collections.abc import Sequence

from halo.binary.alignment.model import CheckedModule
from halo.plan.layout import RULE_END, VERDICT_FORWARD
from halo.plan.model import Plan, PlanGroup, PlanModule, State


def drawing_plan(
    groups: Sequence[PlanGroup],
    max_object: int,
    alignment: int,
    executable: PlanModule | None,
    checked: tuple[CheckedModule, ...] = (),
) -> Plan:
    """The plan for objects of at most `max_object` bytes of any caller.

    `alignment` is 16 bytes, or 0 if it follows from the size. `executable` is the program that the
    plan is for; None: any. `checked`: the modules whose code allows alignment by size.
    """
    return Plan(
        modules=() if executable is None else (executable,),
        groups=tuple(groups),
        states=(State(0, 0, 0, 0, RULE_END, VERDICT_FORWARD, 0, alignment),),
        max_object=max_object,
        huge_pages=any(group.huge_pages for group in groups),
        executable=None if executable is None else 0,
        at_random=True,
        checked=checked,
    )
