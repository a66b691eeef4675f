"""`fragmentation`: wasted memory of groups at their peaks, as a table (HALO, table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from halo.base.errors import BadInput
from halo.measure.racing.gains import HALO
from halo.report.figures.base import FigureOptions
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results import Measurement, read_measurements
from halo.report.results.metrics import trials_on
from halo.report.results.pools import typical_pools, waste_of

TITLES = ("Program", "Configuration", "Groups", "Resident (bytes)", "Frag. (%)", "Frag. (bytes)")


@dataclass(frozen=True)
class FragmentationRow:
    """One program under one configuration; without figures if no pool served an object."""

    program: str
    configuration: str
    groups: int
    resident_bytes: int | None
    fragmentation_percent: float | None
    fragmentation_bytes: int | None

    def cells(self) -> tuple[str, ...]:
        known = self.fragmentation_percent is not None
        share = f"{self.fragmentation_percent:.2f}" if known else "-"
        sizes = [
            f"{size:,}" if size is not None else "-"
            for size in (self.resident_bytes, self.fragmentation_bytes)
        ]
        return self.program, self.configuration, str(self.groups), sizes[0], share, sizes[1]


class FragmentationFigure:
    name = "fragmentation"
    summary = "memory that groups waste at their peaks, as a table (table 1)"
    endings = TABLES
    accepts = ("configurations", "on")

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        measurements = read_measurements(paths)
        wanted = options.configs or (HALO,)
        rows = [row(m, label, options.on) for m in measurements for label in wanted]
        cells, records = [r.cells() for r in rows], [asdict(r) for r in rows]
        return Table(TITLES, cells, records, names=2).to_file(ending)


def row(measurement: Measurement, label: str, on: str) -> FragmentationRow:
    """The trial with the median waste, with each group at its own peak; sizes in bytes."""
    known = trials_on(measurement, on)
    trials = known.get(label)
    if trials is None:
        raise BadInput(
            f"{measurement.path} has no trials of '{label}' on the {on} input; it has those of:"
            f" {', '.join(known) or 'nothing'}."
        )
    pools = typical_pools(trials)
    if not pools:
        return FragmentationRow(measurement.program, label, 0, None, None, None)
    found = waste_of(pools)
    return FragmentationRow(
        measurement.program, label, len(pools), found.resident, 100 * found.share, found.bytes
    )
