"""Aged heaps: what the detector leaves, how a heap is littered with it (docs/littering.md)."""

from halo.aging.detection import Detection, detect_environment, read_detection
from halo.aging.litter import Litter, LitterLog, parse_litter, read_log

__all__ = [
    "Detection",
    "Litter",
    "LitterLog",
    "detect_environment",
    "parse_litter",
    "read_detection",
    "read_log",
]
