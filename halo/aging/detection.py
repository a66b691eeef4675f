"""What `libdetector.so` leaves: the sizes of a program's allocations (docs/littering.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halo.aging.environment import without_settings
from halo.allocators import preload
from halo.errors import BadInput

FORMAT = "halo-detector"
VERSION = 1
PAGE = 4096
CLASSES = PAGE + 2  # of sizes 0 to a page, and of all that is larger
AGAIN = "run the detector again: halo detect -- PROG ARGS"


@dataclass(frozen=True)
class Detection:
    """A program's allocations: `bins[size]` of each size up to a page, the larger ones in the last.

    Sizes are in bytes. `grouped` are the allocations that each group of the plan would serve.
    """

    program: str
    allocations: int
    mean: float
    minimum: int
    maximum: int
    max_live_allocations: int
    bins: tuple[int, ...]
    grouped: tuple[int, ...]


def read_detection(path: Path) -> Detection:
    """The detector's output at `path`; `BadInput` where it is missing, damaged or another file."""
    try:
        document = json.loads(path.read_text("utf-8", "replace"))
    except FileNotFoundError as error:
        raise BadInput(f"{path} does not exist; {AGAIN}") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is cut short or no detector's output; {AGAIN}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(f"{path} is no detector's output; {AGAIN}")
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadInput(f"{path} is damaged: it has no version; {AGAIN}")
    if version > VERSION:
        raise BadInput(f"{path} has version {version}, this halo reads up to {VERSION}: update it.")
    try:
        return _detection(document)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path} is damaged; {AGAIN}") from error


def _detection(document: Mapping[str, Any]) -> Detection:
    """Raises what a wrong kind of value raises, ValueError where numbers contradict each other."""
    names = ("allocations", "minimum", "maximum", "max_live_allocations")
    counts = {name: _count(document[name]) for name in names}
    bins = tuple(_count(value) for value in document["bins"])
    groups = [[(_count(size), _count(n)) for size, n in pairs] for pairs in document["groups"]]
    if len(bins) != CLASSES or sum(bins) != counts["allocations"]:
        raise ValueError
    for size in range(CLASSES):
        if sum(n for pairs in groups for at, n in pairs if at == size) > bins[size]:
            raise ValueError
    return Detection(
        program=str(document["program"]),
        mean=float(document["mean"]),
        bins=bins,
        grouped=tuple(sum(n for _, n in pairs) for pairs in groups),
        **counts,
    )


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError
    return value


def detect_environment(
    environment: Mapping[str, str], detector: Path, program: Path, output: Path
) -> dict[str, str]:
    """The environment in which that executable, and no other, leaves its detection at `output`."""
    return {
        **preload(without_settings(environment), [detector]),
        "DETECTOR_FILENAME": os.fspath(output.absolute()),
        "DETECTOR_PROGRAM": os.path.realpath(program),
    }
