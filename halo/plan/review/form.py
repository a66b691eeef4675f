"""The reviewable form of a plan, NAME.plan.json: to JSON and from JSON.

It has at most 10 MB, whatever the program: the profile that it names has the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import convert

from halo.plan.model import (
    FORMAT,
    GroupReview,
    Identification,
    Member,
    Plan,
    Review,
    SelectorReview,
)
from halo.plan.review.ids import ContextIds, context_ids

FORM = 2
"""The version of the form; the first had no key for it."""
MAX_NAMES = 3_000_000
"""Bytes of the names of all frames: if there are more, the longest names are cut."""
MAX_RANGES = 150_000
"""Ranges of context ids in all."""
_SHORTEST = 40  # bytes, to which a name may be cut
_COSTS = ("undecidable", "simplified")


class _Budget:
    """The ranges of context ids that may still be written."""

    def __init__(self, ranges: int) -> None:
        self._left = ranges

    def write(self, ids: ContextIds) -> dict[str, Any]:
        kept = ids.cut(self._left)
        self._left -= len(kept.ranges)
        return {"count": kept.count, "ranges": kept.ranges}


class _Frames:
    """The names of frames, each once, by the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def refer(self, stack: Iterable[str]) -> list[int]:
        return [self._numbers.setdefault(name, len(self._numbers)) for name in stack]

    def names(self) -> list[str]:
        return list(self._numbers)


def _shortened(names: list[str]) -> list[str]:
    """The names, of which the long ones are cut if all of them have too many bytes."""
    if sum(map(_written_bytes, names)) <= MAX_NAMES:
        return names
    longest = max(_SHORTEST, MAX_NAMES // len(names))
    return [cut(name, longest) for name in names]


def _written_bytes(name: str) -> int:
    return len(name) if name.isascii() else 6 * len(name)


def cut(name: str, longest: int) -> str:
    """The beginning and the end of a long name, where function and line are."""
    if _written_bytes(name) <= longest:
        return name
    half = (longest - _written_bytes("…") - 2) // (2 if name.isascii() else 12)
    return f"{name[:half]} … {name[-half:]}"


def review_text(plan: Plan, crc: int) -> str:
    """The text of NAME.plan.json; `crc` is the checksum of the compact form next to it."""
    return f"{_laid_out(review_json(plan, crc))}\n"


def review_json(plan: Plan, crc: int) -> dict[str, Any]:
    """The JSON document of the reviewable form."""
    review = plan.review
    assert review is not None
    budget, frames = _Budget(MAX_RANGES), _Frames()
    groups = [_group_json(group, frames, budget) for group in review.groups]
    return {
        "format": FORMAT,
        "version": plan.version,
        "form": FORM,
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
        "groups": groups,
        "frames": _shortened(frames.names()),
        "identification": _identification_json(review.identification, budget),
    }


def _identification_json(found: Identification, budget: _Budget) -> dict[str, Any]:
    selectors = found.selectors
    return {
        "states": found.states,
        "deepest": found.deepest,
        "mean_steps": found.mean_steps,
        **{
            key: {
                "contexts": budget.write(getattr(found, key)),
                "accesses": getattr(found, f"{key}_accesses"),
                "allocations": getattr(found, f"{key}_allocations"),
            }
            for key in _COSTS
        },
        "ends": dict(found.ends),
        **({"selectors": _selectors_json(selectors, budget)} if selectors is not None else {}),
    }


def _selectors_json(found: SelectorReview, budget: _Budget) -> dict[str, Any]:
    return {
        "sites": found.sites,
        "immediate": found.immediate,
        "conjunctions": found.conjunctions,
        "unreachable": budget.write(found.unreachable),
        "not_redirected": dict(found.not_redirected),
    }


def _group_json(group: GroupReview, frames: _Frames, budget: _Budget) -> dict[str, Any]:
    return {
        "reason": group.reason,
        "coverage": group.coverage,
        "weight": group.weight,
        **({"conflicts": asdict(group.conflicts)} if group.conflicts is not None else {}),
        "contexts": [_member_json(member, frames) for member in group.contexts],
        "others": {**budget.write(group.others.ids), "accesses": group.others.accesses},
    }


def _member_json(member: Member, frames: _Frames) -> dict[str, Any]:
    return {
        "context": member.context,
        "accesses": member.accesses,
        "allocations": member.allocations,
        "sizes": member.sizes,
        "stack": frames.refer(member.stack),
    }


def _laid_out(value: Any, indent: str = "") -> str:
    """The value as JSON: one line for each key and each text, a list of numbers in one line."""
    deeper = f"{indent} "
    if isinstance(value, Mapping) and value:
        items = [f"{json.dumps(key)}: {_laid_out(it, deeper)}" for key, it in value.items()]
        return _enclosed("{}", items, indent)
    if isinstance(value, list) and any(isinstance(it, (Mapping, str)) for it in value):
        return _enclosed("[]", [_laid_out(it, deeper) for it in value], indent)
    return json.dumps(value)


def _enclosed(brackets: str, items: list[str], indent: str) -> str:
    inner = f",\n{indent} ".join(items)
    return f"{brackets[0]}\n{indent} {inner}\n{indent}{brackets[1]}"


def review_of(document: Mapping[str, Any]) -> tuple[Review, list[str]]:
    """The review in a parsed NAME.plan.json of any version, and the modules' paths.

    Raises `KeyError`, `TypeError`, `ValueError`, `IndexError` or `AttributeError` if it is not as
    written, or is of a newer version.
    """
    form = document.get("form", 1)
    if form > FORM:
        raise ValueError(f"the form has version {form}")
    current = document if form == FORM else _as_second(document)
    names = current["frames"]
    groups = [
        {
            **group,
            "contexts": [
                {**member, "stack": [names[at] for at in member["stack"]]}
                for member in group["contexts"]
            ],
            "others": {"ids": group["others"], "accesses": group["others"]["accesses"]},
        }
        for group in current["groups"]
    ]
    found = dict(current["identification"])
    for key in _COSTS:
        cost = found[key]
        found[key] = cost["contexts"]
        found[f"{key}_accesses"] = cost["accesses"]
        found[f"{key}_allocations"] = cost["allocations"]
    review = {**current, "groups": groups, "identification": found}
    review["alignment"] = document.get("alignment", {}).get("reason", "")
    paths = [str(Path(module["path"])) for module in document["modules"]]
    return convert(review, Review), paths


def _as_second(document: Mapping[str, Any]) -> dict[str, Any]:
    """A form of version 1, which described every context and wrote each name at each use."""
    frames = _Frames()
    groups = [
        {
            **group,
            "contexts": [
                {**member, "stack": frames.refer(member["stack"])} for member in group["contexts"]
            ],
            "others": {"count": 0, "ranges": [], "accesses": 0},
        }
        for group in document["groups"]
    ]
    found = dict(document["identification"])
    for key in _COSTS:
        found[key] = {**found[key], "contexts": asdict(context_ids(found[key]["contexts"]))}
    selectors = found.get("selectors")
    if selectors:
        unreachable = asdict(context_ids(selectors["unreachable"]))
        found["selectors"] = {**selectors, "unreachable": unreachable}
    return {**document, "groups": groups, "frames": frames.names(), "identification": found}
