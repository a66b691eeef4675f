"""Analyses of a type-aware trace: SQL over its dataset, in DuckDB or Spark (docs/analyses.md)."""

from halo.studies.tracing.analyses.analysis import Analysis, Queries, Table, Value
from halo.studies.tracing.analyses.filters import Filters
from halo.studies.tracing.analyses.folder import About, TraceFolder, open_folder
from halo.studies.tracing.analyses.registry import ANALYSES, find_analysis
from halo.studies.tracing.analyses.runner import ENGINES, Answer, Request, run_analysis

__all__ = [
    "ANALYSES",
    "ENGINES",
    "About",
    "Analysis",
    "Answer",
    "Filters",
    "Queries",
    "Request",
    "Table",
    "TraceFolder",
    "Value",
    "find_analysis",
    "open_folder",
    "run_analysis",
]
