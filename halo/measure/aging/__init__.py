"""Aged heaps: the detector's output, and littering a heap by it (docs/littering.md)."""

from halo.measure.aging.detection import detect_environment, read_detection
from halo.measure.aging.litter import Litter, LitterLog, parse_litter, read_log

__all__ = [
    "Litter",
    "LitterLog",
    "detect_environment",
    "parse_litter",
    "read_detection",
    "read_log",
]
