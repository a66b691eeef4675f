"""Results of measurements, read back: what was measured, whether it may be compared, the metrics.

The order of the modules is that of the data: `model` (one measurement as frozen data) → `document`
and `reading` (from the file, checked) → `together` (which files may stand in one figure) →
`metrics` (an event and a transform, with its spread) → `aged_metrics` (the same on aged heaps) →
`pools` (memory that groups waste) → `graph` (the affinity graph with names and groups).
"""

from halo.results.model import Measurement, Trial
from halo.results.reading import read_measurement
from halo.results.together import read_measurements

__all__ = ["Measurement", "Trial", "read_measurement", "read_measurements"]
