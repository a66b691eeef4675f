"""Analyses of a type-aware trace: SQL over its dataset, in DuckDB or Spark (docs/analyses.md)."""

from halo.analyses.analysis import Analysis, Queries, Table, Value
from halo.analyses.filters import Filters
from halo.analyses.folder import About, TraceFolder, open_folder
from halo.analyses.registry import ANALYSES, find_analysis
from halo.analyses.runner import ENGINES, Answer, Request, run_analysis

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
