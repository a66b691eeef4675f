"""All that is chosen by name, as MODULE:NAME; modules are loaded when they are needed.

The main job meets studies here and nowhere else. To add a strategy, a figure, an engine, a deep
analysis, a document or a command, add its file and one line here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

# In the order in which `halo plan` lists them and `halo run` tries them.
STRATEGIES = (
    "halo.plan.strategies.none:STRATEGY",
    "halo.plan.strategies.one_pool:STRATEGY",
    "halo.plan.strategies.dense:STRATEGY",
    "halo.plan.strategies.everything:STRATEGY",
    "halo.plan.strategies.halo:STRATEGY",
    "halo.plan.strategies.halo_hot:STRATEGY",
    "halo.plan.strategies.hot_cold:STRATEGY",
    "halo.plan.strategies.size_affinity:STRATEGY",
    "halo.studies.streams.strategy:STRATEGY",
    "halo.studies.conflicts.strategy:STRATEGY",
    "halo.studies.pollution.strategy:STRATEGY",
    "halo.studies.search.strategy:STRATEGY",
    "halo.plan.strategies.controls.per_site:STRATEGY",
    "halo.plan.strategies.controls.random_groups:STRATEGY",
    "halo.plan.strategies.controls.random_pools:STRATEGY",
    "halo.plan.strategies.from_file:STRATEGY",
)

# Those that record any program first, the preferred one of these first.
ENGINES = (
    "halo.record.native:NativeProducer",
    "halo.record.valgrind:ValgrindProducer",
    "halo.studies.tracing.engine:LlvmProducer",
)

# Makes a profile of a stored trace, for `halo record --trace`.
STORED_TRACE = "halo.studies.tracing.engine:profile_of"

# Plans of `halo run --effort thorough`, which need a recording of every access.
DEEP_ANALYSES = (
    "halo.studies.conflicts.deep_analysis:ANALYSIS",
    "halo.studies.search.deep_analysis:ANALYSIS",
    "halo.studies.pollution.deep_analysis:ANALYSIS",
)

# In the order in which `halo plot` lists them.
FIGURES = (
    "halo.report.figures.affinity_graph:AffinityGraphFigure",
    "halo.report.figures.distances:DistancesFigure",
    "halo.report.figures.aged.occupancy:OccupancyFigure",
    "halo.report.figures.misses:MissesFigure",
    "halo.report.figures.speedup:SpeedupFigure",
    "halo.report.figures.answers:AnswersFigure",
    "halo.report.figures.random_pools:RandomPoolsFigure",
    "halo.report.figures.fragmentation:FragmentationFigure",
    "halo.report.figures.bars:BarsFigure",
    "halo.report.figures.configurations:ConfigurationsFigure",
    "halo.report.figures.aged.table:AgedFigure",
    "halo.report.figures.model:ModelFigure",
    "halo.studies.conflicts.figures.heap_misses:HeapMissesFigure",
    "halo.studies.conflicts.figures.cache_sweep:CacheSweepFigure",
    "halo.studies.conflicts.figures.footprint:FootprintFigure",
    "halo.studies.conflicts.figures.classes:ConflictsFigure",
    "halo.studies.conflicts.figures.sets:SetsFigure",
    "halo.studies.tracing.figures.split:SplitFigure",
    "halo.studies.layouts.figures.orders:OrdersFigure",
    "halo.studies.layouts.figures.object_graph:ObjectGraphFigure",
    "halo.studies.hints.figures.importance:IMPORTANCE",
    "halo.studies.hints.figures.forests:FORESTS",
    "halo.studies.hints.figures.sweep:TidySweepFigure",
    "halo.studies.pollution.figures.figures:MISS_RATES",
    "halo.studies.pollution.figures.figures:PAGE_DIFFERENCES",
    "halo.studies.pollution.figures.figures:CONTEXT_SIZES",
    "halo.studies.pollution.figures.figures:VARIANCES",
)

# That `halo report` shows beside measurements.
DOCUMENTS = (
    "halo.studies.tracing.report.section:DOCUMENT",
    "halo.studies.layouts.report:DOCUMENT",
    "halo.studies.hints.report:DOCUMENT",
    "halo.studies.search.report:DOCUMENT",
)

# In the order in which `halo --help` lists them.
COMMANDS = (
    "halo.cli.run:RunCommand",
    "halo.cli.bench:BenchCommand",
    "halo.cli.probe:ProbeCommand",
    "halo.cli.record:RecordCommand",
    "halo.cli.merge:MergeCommand",
    "halo.cli.plan:PlanCommand",
    "halo.cli.lifecycle.update:UpdateCommand",
    "halo.cli.exec:ExecCommand",
    "halo.cli.deploy:DeployCommand",
    "halo.cli.lifecycle.check:CheckCommand",
    "halo.cli.report:ReportCommand",
    "halo.cli.plot:PlotCommand",
    "halo.cli.doctor:DoctorCommand",
)
STUDY_COMMANDS = (
    "halo.studies.conflicts.command:ConflictsCommand",
    "halo.studies.pollution.corun.command:CorunCommand",
    "halo.studies.hints.command:HintsCommand",
    "halo.studies.layouts.command:LayoutCommand",
    "halo.studies.pollution.locality.command:LocalityCommand",
    "halo.studies.pollution.colours.command:ColoursCommand",
)
TRACE_COMMANDS = (
    "halo.studies.tracing.commands.run:TraceRunCommand",
    "halo.studies.tracing.commands.show:ShowCommand",
    "halo.studies.tracing.commands.convert:ConvertCommand",
    "halo.studies.tracing.commands.offenders:OffendersCommand",
    "halo.studies.tracing.commands.sharing:SharingCommand",
    "halo.studies.tracing.commands.split:SplitCommand",
    "halo.studies.tracing.commands.analyse:AnalyseCommand",
)
HEAP_COMMANDS = (
    "halo.cli.heap.age:AgeCommand",
    "halo.cli.heap.detect:DetectCommand",
    "halo.cli.heap.litter:LitterCommand",
)
EVAL_COMMANDS = (
    "halo.cli.eval.baseline:BaselineCommand",
    "halo.cli.eval.compare:CompareCommand",
    "halo.cli.eval.simulate:SimulateCommand",
    "halo.studies.search.command:PredictCommand",
    "halo.studies.conflicts.coverage_command:CoverageCommand",
)


def load(entries: Sequence[str]) -> tuple[Any, ...]:
    """The objects of these names, in that order; of a class, an instance."""
    return tuple(map(_load, entries))


def _load(entry: str) -> Any:
    module, _, name = entry.partition(":")
    found = getattr(import_module(module), name)
    return found() if isinstance(found, type) else found
