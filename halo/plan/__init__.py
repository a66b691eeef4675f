"""Plans: which allocation contexts share a group, and how the runtime recognises them.

The format is docs/plan-format.md; `Walker` is the walk of the runtime in Python.
"""

from halo.plan.building import PlanOptions, build_plan
from halo.plan.drawing import drawing_plan
from halo.plan.files import read_plan, review_path, write_plan
from halo.plan.grouping import Group, Grouping
from halo.plan.model import (
    FORWARD,
    UNDECIDED,
    GroupReview,
    Identification,
    Member,
    Plan,
    PlanGroup,
    PlanModule,
    Review,
    SelectorReview,
    Selectors,
    State,
)
from halo.plan.options import REQUIRED, describe_options, option, parse_options
from halo.plan.summary import explain, plan_summary
from halo.plan.walking import Walk, Walker

__all__ = [
    "FORWARD",
    "REQUIRED",
    "UNDECIDED",
    "Group",
    "GroupReview",
    "Grouping",
    "Identification",
    "Member",
    "Plan",
    "PlanGroup",
    "PlanModule",
    "PlanOptions",
    "Review",
    "SelectorReview",
    "Selectors",
    "State",
    "Walk",
    "Walker",
    "build_plan",
    "describe_options",
    "drawing_plan",
    "explain",
    "option",
    "parse_options",
    "plan_summary",
    "read_plan",
    "review_path",
    "write_plan",
]
