"""Shows a plan's groups as a short table for review."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from halo.plan import GroupReview, Plan, plan_summary, review_path

SHOWN_GROUPS = 12


def show_review(plan: Plan, path: Path) -> None:
    """The groups, the plan's figures, and where both forms were written."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    # Of groups drawn at random there is nothing to say of each.
    groups = plan.review.groups if plan.review and not plan.at_random else ()
    if groups:
        console.print(groups_table(groups))
    if len(groups) > SHOWN_GROUPS:
        print(f"and {len(groups) - SHOWN_GROUPS} more groups")
    rows = plan_summary(plan)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    print(f"Plan: {path}; for review: {review_path(path)}")


def groups_table(groups: tuple[GroupReview, ...]) -> Table:
    """One row for each group: why it is one, what it covers, its hottest context."""
    table = Table(title="Groups")
    table.add_column("group", justify="right")
    table.add_column("contexts", justify="right")
    table.add_column("accesses", justify="right")
    table.add_column("sizes")
    table.add_column("hottest context, innermost first")
    table.add_column("why")
    for number, group in enumerate(groups[:SHOWN_GROUPS]):
        hottest = max(group.contexts, key=lambda member: member.accesses)
        table.add_row(
            str(number),
            str(len(group.contexts)),
            f"{group.coverage:.1%}",
            ", ".join(str(size) for size, _ in hottest.sizes[:4]),
            "\n".join(hottest.stack[:3]),
            group.reason,
        )
    return table
