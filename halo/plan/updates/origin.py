"""What a plan was made from: strategy, options, profile and next allocator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput, BadPlan, BadProfile
from halo.plan import Source, read_plan, review_path
from halo.plan.huge_pages import HOT, NEVER
from halo.plan.updates.allocator import chosen_allocator
from halo.record.profile import Profile, read_profile

OF_RESULTS = "train.profile"  # the name in the folder of a measurement


@dataclass(frozen=True)
class Origin:
    """What the plan at `path` was made from.

    `program` is the path of the build that it is for, `build_id` that build's, or empty.
    `allocator` is empty if it is unknown.
    """

    path: Path
    strategy: str
    options: Mapping[str, str]
    program: str
    build_id: str
    source: Source
    allocator: str


@dataclass(frozen=True)
class OriginalProfile:
    """The profile to make the plan from; `same` if the plan was made from it."""

    file: Path
    profile: Profile
    same: bool


def read_origin(path: Path) -> Origin:
    """The origin of a plan. Raises `BadPlan` if its review is missing, which names all of this."""
    plan = read_plan(path)
    if plan.review is None:
        raise BadPlan(
            f"{review_path(path)}, which names the strategy of {path.name}, is missing or is of"
            " another plan; put it beside the plan, or plan again with: halo plan PROFILE --for"
            " PROG"
        )
    review = plan.review
    source = review.source
    if not source.fingerprint:  # written by an earlier halo
        source = Source(fingerprint=str(review.profile.get("fingerprint", "")))
    build_id = plan.modules[plan.executable].build_id if plan.executable is not None else ""
    return Origin(
        path,
        review.strategy,
        _as_text(review.parameters),
        str(review.profile.get("program", {}).get("path", "")),
        build_id,
        source,
        chosen_allocator(path, plan),
    )


def _as_text(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of the strategy and of planning, as the texts of `--option`."""
    own = {key: value for key, value in parameters.items() if key != "plan"}
    every = {**own, **parameters.get("plan", {})}
    if isinstance(every.get("huge_pages"), bool):  # written by an earlier halo
        every["huge_pages"] = HOT if every["huge_pages"] else NEVER
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in every.items()
        if value is not None
    }


def find_recording(origin: Origin, given: Path | None) -> OriginalProfile:
    """The given profile, or the one that the plan was made from.

    That is looked for at its recorded path and beside the plan. Raises `BadInput` if it is nowhere,
    `BadProfile` if the given one is unusable.
    """
    if given is not None:
        profile = read_profile(given)
        return OriginalProfile(given, profile, profile.fingerprint() == origin.source.fingerprint)
    for path in dict.fromkeys(_places(origin)):
        try:
            profile = read_profile(path)
        except BadProfile:
            continue
        if profile.fingerprint() == origin.source.fingerprint:
            return OriginalProfile(path, profile, True)
    was = f", {origin.source.file}," if origin.source.file else ""
    raise BadInput(
        f"The profile that {origin.path} was made from{was} is missing or has changed; give it"
        " with --profile FILE, or record the new build."
    )


def _places(origin: Origin) -> Iterator[Path]:
    beside = origin.path.parent
    if origin.source.file:
        yield Path(origin.source.file)
        yield beside / Path(origin.source.file).name
    yield origin.path.with_suffix(".profile")
    yield beside / OF_RESULTS
