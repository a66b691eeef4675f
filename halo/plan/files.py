"""Reads and writes plan files: NAME.plan for the runtime, and NAME.plan.json for review."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from halo.base.errors import BadInput, BadPlan
from halo.base.files.atomic import write_atomically
from halo.base.files.destination import file_behind
from halo.base.files.kinds import PLAN, refuse_other
from halo.plan.compact import crc_of, decode, encode
from halo.plan.model import FORMAT, Plan
from halo.plan.review.form import review_of, review_text


def review_path(path: str | Path) -> Path:
    """The path of the reviewable form of the plan at `path`."""
    return Path(f"{path}.json")


def write_plan(plan: Plan, path: str | Path) -> None:
    """Writes the compact form to `path` and the reviewable one to `path`.json.

    Each file is replaced atomically. The reviewable form is written first, with the checksum of
    the compact one, so that readers detect files that do not belong together after a crash. A
    device or a pipe has no reviewable form. Raises `BadInput` if a file cannot be written, and
    `BadPlan` if the plan exceeds a limit of the format.
    """
    content = encode(plan)
    decode(content, str(path))
    if plan.review is None or not _can_lie_beside(path):
        write_atomically(path, content)
        return
    review = review_path(path)
    is_new = not review.exists()
    write_atomically(review, review_text(plan, crc_of(content)).encode())
    try:
        write_atomically(path, content)
    except BadInput:
        if is_new:
            review.unlink()
        raise


def _can_lie_beside(path: str | Path) -> bool:
    try:
        return file_behind(Path(path)) is not None
    except OSError:
        return False  # writing the compact form says why


def read_plan(path: str | Path) -> Plan:
    """The plan at `path` (the compact form), with its review if a matching one is next to it.

    Raises `BadPlan`, with one sentence, if the compact form cannot be read, is empty, cut short or
    damaged, is another kind of file, has a newer version, or is inconsistent.
    """
    refuse_other(Path(path), BadPlan, PLAN)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise BadPlan(f"{path} cannot be read: {error.strerror or error}.") from error
    return _with_review(decode(content, str(path)), path, crc_of(content))


def _with_review(plan: Plan, path: str | Path, crc: int) -> Plan:
    """Adds the review; ignores a missing, foreign or edited one."""
    try:
        document = json.loads(review_path(path).read_text("utf-8"))
        if document["format"] != FORMAT or document["compact"]["crc32"] != crc:
            return plan
        review, paths = review_of(document)
        modules = tuple(
            module._replace(path=name) for module, name in zip(plan.modules, paths, strict=True)
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return plan
    return replace(plan, review=review, modules=modules)
