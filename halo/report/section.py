"""One program's section of the page, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.base.errors import HaloError
from halo.measure.racing.gains import HALO
from halo.report import misses, repeat_commands
from halo.report.field_chart import FieldChart, field_chart
from halo.report.groups import GroupBlock, WasteLine, group_count, groups_of, waste_lines
from halo.report.numbers import number, seconds
from halo.report.picture import Picture, picture
from halo.report.results import Measurement
from halo.report.results.graph import Graph, GraphSource, build_graph, source_of_folder
from halo.report.results.pools import typical_pools
from halo.report.verdict import Verdict

EDGES = 40


@dataclass(frozen=True)
class ReportSection:
    """The data of a program for the template; `missing` is the reason if there are no contexts.

    `without_plan`: plans were tried, and none was kept.
    """

    anchor: str
    program: str
    verdict: Verdict
    field: FieldChart
    keeps_plan: bool
    plan: str
    groups: Sequence[GroupBlock]
    group_count: int
    waste: Sequence[WasteLine]
    comparisons: Sequence[misses.MissComparison]
    page_faults: misses.MissComparison | None
    without_plan: bool
    outputs_compared: bool
    levels: Sequence[str]
    contexts: Sequence[misses.MissPlace]
    code: Sequence[misses.MissPlace]
    picture: Picture | None
    missing: str
    recording: Sequence[tuple[str, str]]
    warnings: Sequence[str]
    trials: int
    commands: Sequence[tuple[str, str]]


def section(measurement: Measurement, verdict: Verdict, index: int) -> ReportSection:
    """The section of a measurement; a damaged recording is replaced by the reason."""
    source: GraphSource | None = None
    graph: Graph | None = None
    missing = ""
    if measurement.kept is not None:
        try:
            source = source_of_folder(measurement)
            graph = build_graph(source, top=EDGES)
        except HaloError as error:
            missing = str(error)
    kept, keeps_plan = measurement.kept, measurement.kept is not None and not measurement.keeps_none
    plan = source.plan if source is not None and keeps_plan else None
    halo = measurement.reference.get(HALO, ())
    field = field_chart(measurement)
    found = [misses.simulated(measurement), misses.counted(measurement)]
    return ReportSection(
        anchor=f"program-{index}",
        program=measurement.program,
        verdict=verdict,
        field=field,
        keeps_plan=keeps_plan,
        plan=f"{kept.candidate} over {kept.allocator}" if kept is not None and keeps_plan else "",
        groups=groups_of(plan),
        group_count=group_count(plan),
        waste=waste_lines(typical_pools(halo)),
        comparisons=[comparison for comparison in found if comparison is not None],
        page_faults=misses.page_faults(measurement),
        without_plan=kept is not None and not keeps_plan,
        outputs_compared=measurement.summary.outputs_compared,
        levels=misses.levels(measurement),
        contexts=misses.worst_contexts(measurement, graph),
        code=misses.worst_code(measurement),
        picture=picture(graph) if graph is not None else None,
        missing=missing,
        recording=recording(measurement, source),
        warnings=[it for it in measurement.summary.warnings if it not in field.left_out],
        trials=len(next(iter(measurement.reference.values()))),
        commands=repeat_commands.commands(measurement),
    )


def recording(measurement: Measurement, source: GraphSource | None) -> list[tuple[str, str]]:
    """Rows on the cost of recording the training run, and on the recorded profile."""
    cost, rows = measurement.summary.record, []
    if measurement.summary.unrecorded:
        rows.append(("recording the training run", "no engine can"))
    if cost is not None:
        native = measurement.summary.native
        rows += [
            *([("recording engine", cost.engine)] if cost.engine else []),
            ("recording the training run", seconds(cost.seconds)),
            (
                f"the same run without it ({native})",
                seconds(cost.native_seconds),
            ),
            ("times slower", f"{cost.slowdown:.1f}"),
        ]
    if source is not None:
        profile = source.profile
        rows += [
            ("objects", number(profile.totals.allocations)),
            ("accesses to them", number(profile.accesses)),
            ("allocation contexts", str(len(profile.contexts))),
            ("affinity distance", f"{profile.parameters.affinity_distance} bytes"),
            ("largest object followed", f"{profile.parameters.max_object_size} bytes"),
        ]
    return rows
