"""Folders for results: never shared by two measurements, never one that is finished."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from halo.errors import BadInput

RESULTS = "results.json"


def fresh_folder(wanted: Path) -> Path:
    """Makes this folder, or, if it exists already, the first of NAME-2, NAME-3, ... that does not.

    Two measurements that begin in the same second thus get a folder each.
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
    """BadInput if the folder holds the results of a measurement that ran to its end."""
    if _is_finished(folder / RESULTS):
        raise BadInput(
            f"{folder} holds the results of another measurement, which would be overwritten; give"
            " another folder with --results, or remove this one."
        )


def _is_finished(path: Path) -> bool:
    """What is damaged, failed or was interrupted may be replaced."""
    try:
        document = json.loads(path.read_text("utf-8"))
        return bool(document["trials"]["reference"]) and not document["summary"].get("failure")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
