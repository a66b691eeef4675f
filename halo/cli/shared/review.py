"""Prints a plan's groups as a short table for review."""

from __future__ import annotations

from pathlib import Path

from halo.base.console.terminal import TextColumn, TextGrid, TextRow, make_console, show_grid, wrap
from halo.plan import GroupReview, Plan, outline, plan_summary, review_path

SHOWN_GROUPS = 12


def show_review(plan: Plan, path: Path, verbose: bool = False) -> None:
    """Prints the groups, the plan's figures and the paths of both forms.

    `verbose`: also how the runtime recognises the groups.
    """
    console = make_console()
    # Groups drawn at random have no properties of their own.
    groups = plan.review.groups if plan.review and not plan.at_random else ()
    if groups:
        show_grid(console, groups_table(groups))
    if len(groups) > SHOWN_GROUPS:
        print(f"and {len(groups) - SHOWN_GROUPS} more groups")
    rows = plan_summary(plan) if verbose else outline(plan)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        for line in wrap(value, console.width, " " * (width + 2), f"{name:<{width}}  "):
            print(line)
    print(f"Plan: {path}; for review: {review_path(path)}")


def groups_table(groups: tuple[GroupReview, ...]) -> TextGrid:
    """One row for each group: its reason, its coverage, its hottest context."""
    rows = []
    for number, group in enumerate(groups[:SHOWN_GROUPS]):
        hottest = group.contexts[0]
        rows.append(
            TextRow(
                (
                    str(number),
                    str(group.size),
                    f"{group.coverage:.1%}",
                    ", ".join(str(size) for size, _ in hottest.sizes[:4]),
                    "\n".join(hottest.stack[:3]),
                    group.reason,
                )
            )
        )
    fields = (
        *(TextColumn(name, figures=True) for name in ("group", "contexts", "accesses")),
        *(
            TextColumn(name, prose=True)
            for name in ("sizes", "hottest context, innermost first", "why")
        ),
    )
    return TextGrid(fields, rows, "Groups")
