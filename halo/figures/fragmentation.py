"""`fragmentation`: memory that grouped objects waste at peak, as a table (HALO, table 1)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from halo.errors import BadInput
from halo.figures.base import Options
from halo.results import Measurement, read_measurements
from halo.results.model import HALO
from halo.results.pools import typical_pools, waste_of

TITLES = ("Program", "Contender", "Groups", "Resident (bytes)", "Frag. (%)", "Frag. (bytes)")


@dataclass(frozen=True)
class Row:
    """One program under one contender; no figures where no pool served an object."""

    program: str
    contender: str
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
        return self.program, self.contender, str(self.groups), sizes[0], share, sizes[1]


class FragmentationFigure:
    name = "fragmentation"
    summary = "memory that groups waste at their peaks, as a table (table 1)"
    endings = ("md", "csv", "txt", "json")
    heeds = ("contenders", "on")

    def make(self, paths: Sequence[Path], options: Options, ending: str) -> bytes:
        measurements = read_measurements(paths)
        wanted = options.contenders or (HALO,)
        rows = [row(m, label) for m in measurements for label in wanted]
        writers = {"md": _markdown, "csv": _csv, "txt": _text, "json": _json}
        return writers[ending](rows).encode()


def row(measurement: Measurement, label: str) -> Row:
    """The trial with the median waste; each of its groups at the moment of its own peak."""
    trials = measurement.reference.get(label)
    if trials is None:
        raise BadInput(
            f"{measurement.path} has no trials of '{label}'; it has those of:"
            f" {', '.join(measurement.reference)}."
        )
    pools = typical_pools(trials)
    if not pools:
        return Row(measurement.program, label, 0, None, None, None)
    found = waste_of(pools)
    return Row(
        measurement.program, label, len(pools), found.resident, 100 * found.share, found.bytes
    )


def _markdown(rows: Sequence[Row]) -> str:
    lines = [TITLES, ("---", "---", "---:", "---:", "---:", "---:"), *(r.cells() for r in rows)]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def _text(rows: Sequence[Row]) -> str:
    lines = [TITLES, *(r.cells() for r in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(TITLES))]
    text = ""
    for line in lines:
        names = [line[column].ljust(widths[column]) for column in (0, 1)]
        figures = [line[column].rjust(widths[column]) for column in range(2, len(TITLES))]
        text += "  ".join([*names, *figures]) + "\n"
    return text


def _csv(rows: Sequence[Row]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(Row.__annotations__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(entry) for entry in rows)
    return stream.getvalue()


def _json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(entry) for entry in rows], indent=2) + "\n"
