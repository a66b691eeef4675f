"""Placement by cache set, as a deep analysis of `halo run`."""

from halo.measure.candidates import PlanVariant
from halo.measure.deep.analysis import AnalysisNeeds, DeepAnalysis
from halo.record.parts import largest_followed
from halo.studies.conflicts.strategy import prospect

ANALYSIS = DeepAnalysis(
    "conflict",
    AnalysisNeeds({"conflicts": "this"}, largest_followed(conflicts=True)),
    prospect,
    (PlanVariant("conflict", "conflict"),),
)
