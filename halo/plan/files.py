"""Plan files: NAME.plan, which the runtime maps, and NAME.plan.json, which people read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from halo.destination import file_behind
from halo.errors import BadPlan
from halo.plan.compact import crc_of, decode, encode
from halo.plan.model import FORMAT, Plan
from halo.plan.reviewing import review_json, review_of
from halo.profile.writing import write_atomically


def review_path(path: str | Path) -> Path:
    """Where the reviewable form of the plan at `path` lies."""
    return Path(f"{path}.json")


def write_plan(plan: Plan, path: str | Path) -> None:
    """Writes the compact form to `path` and the reviewable one to `path`.json.

    Each appears in one step. The reviewable form comes first and carries the checksum of the
    compact one, so that a pair torn apart by a crash is never taken for a pair. Raises `BadInput`
    if a file cannot be written. What goes to a device or a pipe has no reviewable form beside it.
    """
    content = encode(plan)
    if plan.review is not None and _can_lie_beside(path):
        text = json.dumps(review_json(plan, crc_of(content)), indent=1, ensure_ascii=False)
        write_atomically(review_path(path), (text + "\n").encode())
    write_atomically(path, content)


def _can_lie_beside(path: str | Path) -> bool:
    try:
        return file_behind(Path(path)) is not None
    except OSError:
        return False  # writing the compact form says why


def read_plan(path: str | Path) -> Plan:
    """The plan at `path` (the compact form), with its review if a matching one lies next to it.

    Raises `BadPlan`, with one sentence, if the compact form cannot be read, is empty, cut short or
    damaged, is another kind of file, has a newer version, or contradicts itself.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadPlan(f"{path} cannot be read: {error.strerror or error}.") from error
    return _with_review(decode(content, str(path)), path, crc_of(content))


def _with_review(plan: Plan, path: str | Path, crc: int) -> Plan:
    """Adds the review; a missing, foreign or edited one is no reason to refuse the plan."""
    try:
        document = json.loads(review_path(path).read_text("utf-8"))
        if document["format"] != FORMAT or document["compact"]["crc32"] != crc:
            return plan
        review, paths = review_of(document)
        modules = tuple(
            module._replace(path=name) for module, name in zip(plan.modules, paths, strict=True)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return plan
    return replace(plan, review=review, modules=modules)
