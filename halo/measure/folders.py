"""Creates folders for results, and tells those of a finished measurement."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

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


def is_finished(folder: Path) -> bool:
    """Whether its results are complete; damaged, failed or interrupted ones may be replaced."""
    try:
        document = json.loads((folder / RESULTS).read_text("utf-8"))
        return bool(document["trials"]["reference"]) and not document["summary"].get("failure")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
