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
    "halo.strategies.none:STRATEGY",
    "halo.strategies.one_pool:STRATEGY",
    "halo.strategies.dense:STRATEGY",
    "halo.strategies.everything:STRATEGY",
    "halo.strategies.halo:STRATEGY",
    "halo.strategies.halo_hot:STRATEGY",
    "halo.strategies.hot_cold:STRATEGY",
    "halo.strategies.size_affinity:STRATEGY",
    "halo.strategies.hot_streams:STRATEGY",
    "halo.strategies.conflict:STRATEGY",
    "halo.strategies.confine:STRATEGY",
    "halo.strategies.search:STRATEGY",
    "halo.strategies.controls.per_site:STRATEGY",
    "halo.strategies.controls.random_groups:STRATEGY",
    "halo.strategies.controls.random_pools:STRATEGY",
    "halo.strategies.from_file:STRATEGY",
)

# Those that record any program first, the preferred one of these first.
ENGINES = (
    "halo.recording.native:NativeProducer",
    "halo.recording.valgrind:ValgrindProducer",
    "halo.recording.llvm:LlvmProducer",
)

# Makes a profile of a stored trace, for `halo record --trace`.
STORED_TRACE = "halo.recording.llvm:profile_of"

# Plans of `halo run --effort thorough`, which need a recording of every access.
DEEP_ANALYSES = (
    "halo.trials.deep.conflict:ANALYSIS",
    "halo.trials.deep.search:ANALYSIS",
    "halo.trials.deep.confine:ANALYSIS",
)

# In the order in which `halo plot` lists them.
FIGURES = (
    "halo.figures.affinity_graph:AffinityGraphFigure",
    "halo.figures.distances:DistancesFigure",
    "halo.figures.aged.occupancy:OccupancyFigure",
    "halo.figures.misses:MissesFigure",
    "halo.figures.speedup:SpeedupFigure",
    "halo.figures.answers:AnswersFigure",
    "halo.figures.random_pools:RandomPoolsFigure",
    "halo.figures.fragmentation:FragmentationFigure",
    "halo.figures.bars:BarsFigure",
    "halo.figures.configurations:ConfigurationsFigure",
    "halo.figures.aged.table:AgedFigure",
    "halo.figures.model:ModelFigure",
    "halo.figures.heap_misses:HeapMissesFigure",
    "halo.figures.cache_sweep:CacheSweepFigure",
    "halo.figures.footprint:FootprintFigure",
    "halo.figures.conflicts.classes:ConflictsFigure",
    "halo.figures.conflicts.sets:SetsFigure",
    "halo.figures.split:SplitFigure",
    "halo.figures.layouts.orders:OrdersFigure",
    "halo.figures.layouts.object_graph:ObjectGraphFigure",
    "halo.figures.hints.importance:IMPORTANCE",
    "halo.figures.hints.forests:FORESTS",
    "halo.figures.hints.sweep:TidySweepFigure",
    "halo.figures.locality.figures:MISS_RATES",
    "halo.figures.locality.figures:PAGE_DIFFERENCES",
    "halo.figures.locality.figures:CONTEXT_SIZES",
    "halo.figures.locality.figures:VARIANCES",
)

# That `halo report` shows beside measurements.
DOCUMENTS = (
    "halo.report.found.analysis:DOCUMENT",
    "halo.report.found.layouts:DOCUMENT",
    "halo.report.found.hints:DOCUMENT",
    "halo.report.found.predictions:DOCUMENT",
)

# In the order in which `halo --help` lists them.
COMMANDS = (
    "halo.commands.run:RunCommand",
    "halo.commands.bench:BenchCommand",
    "halo.commands.probe:ProbeCommand",
    "halo.commands.record:RecordCommand",
    "halo.commands.conflicts:ConflictsCommand",
    "halo.commands.corun:CorunCommand",
    "halo.commands.hints:HintsCommand",
    "halo.commands.layout:LayoutCommand",
    "halo.commands.locality:LocalityCommand",
    "halo.commands.merge:MergeCommand",
    "halo.commands.plan:PlanCommand",
    "halo.commands.lifecycle.update:UpdateCommand",
    "halo.commands.exec:ExecCommand",
    "halo.commands.deploy:DeployCommand",
    "halo.commands.lifecycle.check:CheckCommand",
    "halo.commands.report:ReportCommand",
    "halo.commands.plot:PlotCommand",
    "halo.commands.doctor:DoctorCommand",
    "halo.commands.colours:ColoursCommand",
)
TRACE_COMMANDS = (
    "halo.commands.trace.run:TraceRunCommand",
    "halo.commands.trace.show:ShowCommand",
    "halo.commands.trace.convert:ConvertCommand",
    "halo.commands.trace.offenders:OffendersCommand",
    "halo.commands.trace.sharing:SharingCommand",
    "halo.commands.trace.split:SplitCommand",
    "halo.commands.trace.analyse:AnalyseCommand",
)
HEAP_COMMANDS = (
    "halo.commands.heap.age:AgeCommand",
    "halo.commands.heap.detect:DetectCommand",
    "halo.commands.heap.litter:LitterCommand",
)
EVAL_COMMANDS = (
    "halo.commands.eval.baseline:BaselineCommand",
    "halo.commands.eval.compare:CompareCommand",
    "halo.commands.eval.simulate:SimulateCommand",
    "halo.commands.eval.predict:PredictCommand",
    "halo.commands.eval.coverage:CoverageCommand",
)


def load(entries: Sequence[str]) -> tuple[Any, ...]:
    """The objects of these names, in that order; of a class, an instance."""
    return tuple(map(_load, entries))


def _load(entry: str) -> Any:
    module, _, name = entry.partition(":")
    found = getattr(import_module(module), name)
    return found() if isinstance(found, type) else found
