"""Creates folders for results; never reuses one of a finished measurement."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from halo.errors import BadInput

RESULTS = "results.json"


def fresh_folder(wanted: Path) -> Path:
    """Creates this folder, or the first of NAME-2, NAME-3, ... that does not exist yet.

    Two measurements that begin in the same second have separate folders.
    """
    for number in itertools.count(1):
        path = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        return path
    raise AssertionError("count() does not end")


def refuse_finished(folder: Path) -> None:
    """Raises `BadInput` if the folder has the results of a finished measurement."""
    if _is_finished(folder / RESULTS):
        raise BadInput(
            f"{folder} holds the results of another measurement, which would be overwritten; give"
            " another folder with --results, or remove this one."
        )


def _is_finished(path: Path) -> bool:
    """Whether the results are complete; damaged, failed or interrupted ones may be replaced."""
    try:
        document = json.loads(path.read_text("utf-8"))
        return bool(document["trials"]["reference"]) and not document["summary"].get("failure")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
