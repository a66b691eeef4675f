"""Plans as text: rows for a table, and a full explanation."""

from __future__ import annotations

from halo.plan.layout import RULE_FRAME_POINTER, VERDICT_FORWARD, VERDICT_UNDECIDED
from halo.plan.model import Identification, Plan

_SHOWN_MEMBERS = 5
_SHOWN_FRAMES = 4


INTERNAL = frozenset(
    {"modules", "states", "frame-pointer steps", "alignment", "deepest walk", "mean walk"}
    | {"longest conjunction"}
)
"""Rows about how the runtime recognises groups, not about what it places."""


def outline(plan: Plan) -> list[tuple[str, str]]:
    """The rows of `plan_summary` that say what the plan places, and what it misses."""
    found = plan.review.identification if plan.review is not None else None
    complete = found is None or not found.undecidable
    hidden = INTERNAL | ({"undecidable"} if complete else set())
    return [
        (name, value)
        for name, value in plan_summary(plan)
        if name not in hidden and not name.startswith("walks end")
    ]


def plan_summary(plan: Plan) -> list[tuple[str, str]]:
    """Rows of (name, value), most important first; more rows if the plan has a review."""
    leaves = sum(state.verdict < VERDICT_FORWARD for state in plan.states)
    by_pointer = sum(state.rule == RULE_FRAME_POINTER for state in plan.states)
    rows = [
        ("groups", str(len(plan.groups))),
        ("largest grouped object", f"{plan.max_object} bytes"),
        ("huge pages", "requested" if plan.huge_pages else "not requested"),
        ("modules", str(len(plan.modules))),
        ("states", f"{len(plan.states)}, {leaves} of them deciding on a group"),
        ("frame-pointer steps", str(by_pointer)),
    ]
    if plan.selectors is not None:
        sites, conjunctions = plan.selectors
        rows.append(("selectors", f"{len(conjunctions)} conjunctions of {len(sites)} call sites"))
    elif plan.at_random and len(plan.groups) == 1:
        rows.append(("effect", "every small object of any caller goes into one pool"))
    elif plan.at_random:
        rows.append(("effect", f"small objects go into one of {len(plan.groups)} pools at random"))
    elif plan.states[0].verdict == VERDICT_FORWARD:
        rows.append(("effect", "none: everything is forwarded"))
    elif plan.states[0].verdict != VERDICT_UNDECIDED:
        rows.append(("effect", f"every small object goes into group {plan.states[0].verdict}"))
    review = plan.review
    if review is None:
        return rows
    contexts = sum(group.size for group in review.groups)
    coverage = sum(group.coverage for group in review.groups)
    origin = [
        ("strategy", review.strategy),
        ("program", review.command[0]),
    ]
    alignment = [("alignment", review.alignment)] if review.alignment else []
    if plan.at_random:
        return [*origin, *rows, *alignment]
    return [
        *origin,
        ("grouped contexts", str(contexts)),
        ("coverage", f"{coverage:.1%} of the recorded accesses"),
        *rows,
        *alignment,
        *_identification_rows(review.identification),
    ]


def _identification_rows(found: Identification) -> list[tuple[str, str]]:
    rows = _selector_rows(found) if found.selectors else _walk_rows(found)
    rows.append(
        (
            "undecidable",
            f"{len(found.undecidable)} contexts, {found.undecidable_accesses:.2%} of accesses, "
            f"{found.undecidable_allocations:.2%} of allocations",
        )
    )
    if found.simplified:
        rows.append(
            (
                "simplified away",
                f"{len(found.simplified)} contexts, {found.simplified_accesses:.2%} of accesses, "
                f"{found.simplified_allocations:.2%} of allocations",
            )
        )
    rows += [(f"walks end: {cause}", f"{count} call sites") for cause, count in found.ends.items()]
    return rows


def _walk_rows(found: Identification) -> list[tuple[str, str]]:
    return [
        ("deepest walk", f"{found.deepest} return addresses"),
        ("mean walk", f"{found.mean_steps:.2f} return addresses per allocation"),
    ]


def _selector_rows(found: Identification) -> list[tuple[str, str]]:
    assert found.selectors is not None
    return [
        ("longest conjunction", f"{found.deepest} call sites"),
        *(
            (f"not redirected: {cause}", f"{count} call sites")
            for cause, count in found.selectors.not_redirected.items()
        ),
    ]


def explain(plan: Plan) -> str:
    """The plan as text: the summary, then each group with its reason and hottest contexts."""
    rows = plan_summary(plan)
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    if plan.review is None:
        return "\n".join([*lines, "", "No matching NAME.plan.json: groups cannot be explained."])
    for index, group in enumerate(plan.review.groups):
        lines += ["", f"group {index}: {group.reason}"]
        lines.append(f"  {group.coverage:.1%} of accesses, affinity {group.weight}")
        for member in group.contexts[:_SHOWN_MEMBERS]:
            sizes = ", ".join(f"{size} ({count})" for size, count in member.sizes[:4])
            lines.append(
                f"  context {member.context}: {member.accesses} accesses, "
                f"{member.allocations} allocations of {sizes or 'no'} bytes"
            )
            lines += [f"    {frame}" for frame in member.stack[:_SHOWN_FRAMES]]
        if group.size > _SHOWN_MEMBERS:
            lines.append(f"  and {group.size - _SHOWN_MEMBERS} more contexts")
    return "\n".join(lines)
