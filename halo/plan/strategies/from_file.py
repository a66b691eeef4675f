"""Groups from a file: written by hand, or edited in a reviewable plan."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import ValidationError, convert

from halo.base.errors import BadInput
from halo.plan.options import REQUIRED, option
from halo.plan.review.ids import NO_IDS, ContextIds
from halo.plan.strategies.base import ProposedGroup, Strategy, StrategyInput
from halo.record.profile import Profile


@dataclass(frozen=True)
class Options:
    file: str = option(REQUIRED, "PATH of a JSON file with groups, or a NAME.plan.json")


def group(subject: StrategyInput, options: Options) -> list[ProposedGroup]:
    """The groups in the file.

    Its `groups` are lists of context ids, or objects with `contexts` (ids, or objects with the key
    `context`, as in a plan) and, optionally, `others` (as in a plan) and `reason`. Raises
    `BadInput` if the file is not such a document, or is a plan made from another profile, in which
    context ids mean other stacks.
    """
    document = _load(options.file)
    _check_origin(document, subject.profile, options.file)
    groups = document.get("groups")
    if not isinstance(groups, list):
        raise BadInput(f"{options.file} has no list of groups.")
    return [
        _candidate(item, index, len(subject.profile.contexts), options.file)
        for index, item in enumerate(groups)
    ]


def _load(path: str) -> dict[str, Any]:
    try:
        document = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise BadInput(f"{path} has no list of groups.")
    return document


def _check_origin(document: dict[str, Any], profile: Profile, path: str) -> None:
    origin = document.get("profile")
    stamp = origin.get("fingerprint") if isinstance(origin, dict) else None
    if stamp is not None and stamp != profile.fingerprint():
        raise BadInput(f"{path} was made from another profile; its context ids do not fit.")


def _candidate(item: Any, index: int, contexts: int, path: str) -> ProposedGroup:
    given = item.get("reason") if isinstance(item, dict) else None
    reason = given if isinstance(given, str) else f"group {index} of {Path(path).name}"
    members = item.get("contexts") if isinstance(item, dict) else item
    others = item.get("others") if isinstance(item, dict) else None
    if not isinstance(members, list):
        raise BadInput(f"{path}: group {index} is not a list of context ids.")
    ids: list[int] = []
    for member in members:
        at = member.get("context") if isinstance(member, dict) else member
        if type(at) is not int or not 0 <= at < contexts:
            raise BadInput(f"{path}: group {index} names context {at}, which is not there.")
        ids.append(at)
    ids += _others(others, index, contexts, path)
    return ProposedGroup(ids, reason)


def _others(given: Any, index: int, contexts: int, path: str) -> ContextIds:
    """The contexts of a plan's group that it does not describe."""
    try:
        found = convert(given, ContextIds) if given is not None else NO_IDS
    except ValidationError as error:
        raise BadInput(f"{path}: the others of group {index} are not ranges of ids.") from error
    for first, last in found.ranges:
        if not 0 <= first <= last < contexts:
            raise BadInput(f"{path}: group {index} names context {last}, which is not there.")
    if not found.is_complete:
        raise BadInput(
            f"{path} lists only some of the contexts of group {index}; make the plan again from its"
            " profile, with its strategy."
        )
    return found


STRATEGY = Strategy("from-file", "groups read from a file", Options, group, names_contexts=True)
