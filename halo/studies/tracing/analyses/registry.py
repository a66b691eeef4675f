"""All analyses, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Sequence

from halo.base.errors import UsageError
from halo.studies.tracing.analyses.analysis import Analysis
from halo.studies.tracing.analyses.offenders import Offenders
from halo.studies.tracing.analyses.sharing import Sharing
from halo.studies.tracing.analyses.split.analysis import SplitAnalysis

# To add an analysis, add its file and one line here.
ANALYSES: Sequence[Analysis] = (
    Offenders(),
    Sharing(),
    SplitAnalysis(),
)


def find_analysis(name: str) -> Analysis:
    """The analysis of that name; raises `UsageError` (listing all) if there is none."""
    for analysis in ANALYSES:
        if analysis.name == name:
            return analysis
    known = ", ".join(analysis.name for analysis in ANALYSES)
    raise UsageError(f"The analysis '{name}' does not exist; choose one of: {known}.")
