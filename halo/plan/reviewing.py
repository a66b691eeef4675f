"""The reviewable side of a plan: groups with names for their stacks, as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from halo.plan.grouping import Grouping
from halo.plan.model import (
    FORMAT,
    VERSION,
    GroupReview,
    Identification,
    Member,
    Plan,
    Review,
    SelectorReview,
)
from halo.profile import Profile, name_frames


def review_groups(profile: Profile, grouping: Grouping, most: int) -> tuple[GroupReview, ...]:
    """The groups with their contexts, hottest first, and up to `most` frames of each stack."""
    chains = {at: list(profile.stack(at)) for group in grouping.groups for at in group.contexts}
    names = name_frames(profile, {frame for chain in chains.values() for frame in chain[:most]})
    reviews = []
    for group in grouping.groups:
        order = sorted(group.contexts, key=lambda at: (-profile.contexts[at].accesses, at))
        members = tuple(_member(profile, at, chains[at], names, most) for at in order)
        reviews.append(GroupReview(group.reason, group.coverage, group.weight, members))
    return tuple(reviews)


def _member(
    profile: Profile, at: int, chain: list[int], names: Mapping[int, str], most: int
) -> Member:
    context = profile.contexts[at]
    stack = [names[frame] for frame in chain[:most]]
    if len(chain) > most:
        stack.append(f"… {len(chain) - most} more")
    return Member(at, context.accesses, context.allocations, context.sizes, tuple(stack))


def review_json(plan: Plan, crc: int) -> dict[str, Any]:
    """The JSON document of NAME.plan.json; `crc` ties it to the compact form next to it."""
    review = plan.review
    assert review is not None
    found = asdict(review.identification)
    for key in ("undecidable", "simplified"):
        found[key] = {
            "contexts": found[key],
            "accesses": found.pop(f"{key}_accesses"),
            "allocations": found.pop(f"{key}_allocations"),
        }
    if found["selectors"] is None:
        del found["selectors"]
    return {
        "format": FORMAT,
        "version": VERSION,
        "strategy": review.strategy,
        "parameters": dict(review.parameters),
        "profile": dict(review.profile),
        "compact": {"crc32": crc, "max_object": plan.max_object, "huge_pages": plan.huge_pages},
        "modules": [{"path": item.path, "build_id": item.build_id} for item in plan.modules],
        "alignment": {
            "reason": review.alignment,
            "checked": [
                {
                    "path": item.path,
                    "build_id": item.build_id,
                    "relaxations": len(item.relaxations),
                }
                for item in plan.checked
            ],
        },
        "groups": [asdict(group) for group in review.groups],
        "identification": found,
    }


def review_of(document: Mapping[str, Any]) -> tuple[Review, list[str]]:
    """The review in a parsed NAME.plan.json, and the modules' paths.

    Raises `KeyError`, `TypeError`, `ValueError` or `AttributeError` where it is not as written.
    """
    found = dict(document["identification"])
    for key in ("undecidable", "simplified"):
        cost = found[key]
        found[key] = tuple(cost["contexts"])
        found[f"{key}_accesses"] = float(cost["accesses"])
        found[f"{key}_allocations"] = float(cost["allocations"])
    if "selectors" in found:
        counts = dict(found["selectors"])
        counts["unreachable"] = tuple(counts["unreachable"])
        found["selectors"] = SelectorReview(**counts)
    groups = tuple(
        GroupReview(
            str(group["reason"]),
            float(group["coverage"]),
            int(group["weight"]),
            tuple(_member_of(member) for member in group["contexts"]),
        )
        for group in document["groups"]
    )
    review = Review(
        strategy=str(document["strategy"]),
        parameters=dict(document["parameters"]),
        profile=dict(document["profile"]),
        groups=groups,
        identification=Identification(**found),
        alignment=str(document.get("alignment", {}).get("reason", "")),
    )
    return review, [str(Path(module["path"])) for module in document["modules"]]


def _member_of(raw: Mapping[str, Any]) -> Member:
    return Member(
        context=int(raw["context"]),
        accesses=int(raw["accesses"]),
        allocations=int(raw["allocations"]),
        sizes=tuple((int(size), int(count)) for size, count in raw["sizes"]),
        stack=tuple(map(str, raw["stack"])),
    )
