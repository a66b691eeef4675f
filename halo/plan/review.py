"""The reviewable form of a plan: groups with symbolised stacks, to JSON and from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import convert

from halo.plan.grouping import Group, Grouping
from halo.plan.model import FORMAT, GroupReview, HintReview, Member, Plan, Review
from halo.profile import Profile, name_frames


def review_groups(profile: Profile, grouping: Grouping, maximum: int) -> tuple[GroupReview, ...]:
    """The groups with their contexts, hottest first, and up to `maximum` frames of each stack."""
    chains = {at: list(profile.stack(at)) for group in grouping.groups for at in group.contexts}
    names = name_frames(profile, {frame for chain in chains.values() for frame in chain[:maximum]})
    reviews = []
    for group in grouping.groups:
        order = sorted(group.contexts, key=lambda at: (-profile.contexts[at].accesses, at))
        members = tuple(_member(profile, at, chains[at], names, maximum) for at in order)
        reviews.append(_group(group, members))
    return tuple(reviews)


def review_hints(profile: Profile, grouping: Grouping) -> tuple[HintReview, ...]:
    """The hinted call sites, the most accessed first."""
    total = profile.accesses or 1
    frames = [next(profile.stack(one.contexts[0])) for one in grouping.hints]
    names = name_frames(profile, set(frames))
    found = [
        HintReview(
            names[frame],
            one.rule.bytes,
            one.reason,
            sum(profile.contexts[at].accesses for at in one.contexts) / total,
        )
        for frame, one in zip(frames, grouping.hints, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.coverage))


def _group(group: Group, members: tuple[Member, ...]) -> GroupReview:
    return GroupReview(group.reason, group.coverage, group.weight, members, group.conflicts)


def _member(
    profile: Profile, at: int, chain: list[int], names: Mapping[int, str], maximum: int
) -> Member:
    context = profile.contexts[at]
    stack = [names[frame] for frame in chain[:maximum]]
    if len(chain) > maximum:
        stack.append(f"… {len(chain) - maximum} more")
    return Member(at, context.accesses, context.allocations, context.sizes, tuple(stack))


def review_json(plan: Plan, crc: int) -> dict[str, Any]:
    """The JSON document of NAME.plan.json; `crc` is the checksum of the compact form next to it."""
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
        "version": plan.version,
        "strategy": review.strategy,
        "parameters": dict(review.parameters),
        "profile": dict(review.profile),
        **({"source": asdict(review.source)} if review.source.fingerprint else {}),
        **({"allocator": review.allocator} if review.allocator else {}),
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
        "groups": [_group_json(group) for group in review.groups],
        **({"hints": [asdict(hint) for hint in review.hints]} if review.hints else {}),
        **({"why_no_hints": review.why_no_hints} if review.why_no_hints else {}),
        "identification": found,
    }


def _group_json(group: GroupReview) -> dict[str, Any]:
    found = asdict(group)
    if group.conflicts is None:
        del found["conflicts"]
    return found


def review_of(document: Mapping[str, Any]) -> tuple[Review, list[str]]:
    """The review in a parsed NAME.plan.json, and the modules' paths.

    Raises `KeyError`, `TypeError`, `ValueError` or `AttributeError` if it is not as written.
    """
    found = dict(document["identification"])
    for key in ("undecidable", "simplified"):
        cost = found[key]
        found[key] = cost["contexts"]
        found[f"{key}_accesses"] = cost["accesses"]
        found[f"{key}_allocations"] = cost["allocations"]
    review = {**document, "identification": found}
    review["alignment"] = document.get("alignment", {}).get("reason", "")
    paths = [str(Path(module["path"])) for module in document["modules"]]
    return convert(review, Review), paths
