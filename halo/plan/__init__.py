"""Plans: which allocation contexts share a group, and how the runtime identifies them.

docs/plan-format.md defines the format; `Walker` is a reference in Python for the runtime's walk.
"""

from halo.plan.builder import PlanOptions, build_plan
from halo.plan.files import read_plan, review_path, write_plan
from halo.plan.grouping import Group, Grouping
from halo.plan.layout import VERDICT_FORWARD, VERDICT_UNDECIDED
from halo.plan.model import (
    ConflictReview,
    GroupReview,
    Identification,
    Member,
    Plan,
    PlanGroup,
    PlanModule,
    Review,
    SelectorReview,
    Selectors,
    Source,
    State,
)
from halo.plan.options import REQUIRED, describe_options, option, parse_options
from halo.plan.random_pools import drawing_plan
from halo.plan.summary import explain, outline, plan_summary
from halo.plan.walk import Walk, Walker

__all__ = [
    "REQUIRED",
    "VERDICT_FORWARD",
    "VERDICT_UNDECIDED",
    "ConflictReview",
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
    "Source",
    "State",
    "Walk",
    "Walker",
    "build_plan",
    "describe_options",
    "drawing_plan",
    "explain",
    "option",
    "outline",
    "parse_options",
    "plan_summary",
    "read_plan",
    "review_path",
    "write_plan",
]
