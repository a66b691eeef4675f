"""`orders`: misses with the objects in another order, by level (Miucin, figure 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halo.report.figures.base import IMAGES, FigureOptions
from halo.report.figures.drawing.bar_chart import BarGroup, Chart, draw_bars
from halo.report.figures.drawing.table_files import TABLES, Table
from halo.report.results.metrics import Value
from halo.studies.layouts.orders import ReplayedProgram, read_replayed

DEFAULT = ("hml",)


class OrdersFigure:
    name = "orders"
    summary = "misses with objects in another order, relative to those recorded, by level"
    endings = (*IMAGES, *TABLES)
    accepts = ("configurations",)

    def make(self, paths: Sequence[Path], options: FigureOptions, ending: str) -> bytes:
        found = read_replayed(paths)
        orders = options.configs or DEFAULT
        return _table(found, orders, ending) if ending in TABLES else _bars(found, orders, ending)


def _label(one: ReplayedProgram, order: str, orders: Sequence[str]) -> str:
    """A line for each part of the name, as bars are narrow."""
    program = one.program.replace(".", "\n")
    return program if len(orders) == 1 else "\n".join([program, *order.split("-")])


def _bars(found: Sequence[ReplayedProgram], orders: Sequence[str], ending: str) -> bytes:
    groups = [
        BarGroup(
            _label(one, order, orders),
            [Value(ratio, ratio, ratio) for ratio in one.relative(order).values()],
        )
        for one in found
        for order in orders
    ]
    note = (
        f"Order: {', '.join(orders)}, with memory of freed objects reused. Simulated; one run of"
        " each program."
    )
    chart = Chart(
        title="Misses by level, relative to the recorded layout",
        axis="misses, recorded layout = 1",
        configs=found[0].levels,
        groups=groups,
        note=note,
        neutral=1.0,
    )
    return draw_bars(chart, ending)


def _table(found: Sequence[ReplayedProgram], orders: Sequence[str], ending: str) -> bytes:
    rows = [(one, order, one.relative(order)) for one in found for order in orders]
    cells = [
        [one.program, order, *(f"{ratio:.2f}" for ratio in ratios.values())]
        for one, order, ratios in rows
    ]
    records = [
        {"program": one.program, "order": order, "misses": dict(ratios)}
        for one, order, ratios in rows
    ]
    return Table(["Program", "Order", *found[0].levels], cells, records).to_file(ending)
