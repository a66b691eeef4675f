"""Results of measurements, read back: what was measured, whether it may be compared, the metrics.

The order of the modules is that of the data: `reader` (a file, loaded and checked) → `model` (one
measurement) → `together` (which files may stand in one figure) → `metrics` (an event and a
transform, with its spread) → `aged_metrics` (the same on aged heaps) → `pools` (memory that groups
waste) → `graph` (the affinity graph with names and groups).
"""

from halo.report.results.model import Measurement
from halo.report.results.reader import read_measurement
from halo.report.results.together import read_measurements

__all__ = ["Measurement", "read_measurement", "read_measurements"]
