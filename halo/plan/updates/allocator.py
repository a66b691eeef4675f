"""The next allocator that a plan was chosen over, as far as the files around it know."""

from __future__ import annotations

import json
from pathlib import Path

from halo.plan import Plan

SUMMARY = "summary.json"


def chosen_allocator(path: Path, plan: Plan) -> str:
    """The name that the plan's review has, or the results folder of the plan; empty if unknown."""
    if plan.review is not None and plan.review.allocator:
        return plan.review.allocator
    try:
        summary = json.loads((path.parent / SUMMARY).read_text("utf-8"))
        kept = summary["candidate"] == path.stem and isinstance(summary["allocator"], str)
        return summary["allocator"] if kept else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
