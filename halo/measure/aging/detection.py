"""Reads the output of `libhalo-detector.so`: the sizes of a program's allocations.

docs/littering.md describes the format; the detection is that of Littering, section 3.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from halo.base.schema.detection import CLASSES, FORMAT, VERSION, Detection
from halo.base.schema.document import DocumentKind, load
from halo.binary.process.allocators import preload
from halo.measure.aging.environment import without_settings

DETECTION = DocumentKind(
    FORMAT,
    VERSION,
    Detection,
    name="a detector's output",
    give="give what `halo study heap detect` wrote",
    again="run `halo study heap detect -- PROG ARGS` again",
)


def read_detection(path: Path) -> Detection:
    """The detector's output at `path`; `BadInput` if it is missing, damaged or another file."""
    found = load(path, DETECTION)
    if sum(found.bins) != found.allocations:
        raise DETECTION.damaged(path, "its bins do not add up to its allocations")
    grouped: Counter[int] = Counter()
    for pairs in found.groups:
        for size, number in pairs:
            grouped[size] += number
    if any(number > found.bins[size] for size, number in grouped.items() if size < CLASSES):
        raise DETECTION.damaged(path, "its groups have more allocations than there were")
    return found


def detect_environment(
    environment: Mapping[str, str], detector: Path, program: Path, output: Path
) -> dict[str, str]:
    """The environment in which that executable, and no other, writes its detection to `output`."""
    return {
        **preload(without_settings(environment), [detector]),
        "HALO_DETECTOR_FILENAME": os.fspath(output.absolute()),
        "HALO_DETECTOR_PROGRAM": os.path.realpath(program),
    }
