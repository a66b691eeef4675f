"""The confinement of polluting contexts, as a deep analysis of `halo run`."""

from halo.measure.candidates import PlanVariant
from halo.measure.deep.analysis import AnalysisNeeds, DeepAnalysis
from halo.record.parts import MAX_TRACED
from halo.record.sink_options import OBJECTS
from halo.studies.pollution.strategy import prospect

ANALYSIS = DeepAnalysis(
    "confine",
    AnalysisNeeds({OBJECTS.name: 1}, MAX_TRACED),
    prospect,
    (PlanVariant("confine", "confine", {"watched": "false"}),),
)
