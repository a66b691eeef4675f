"""The search by predicted misses, as a deep analysis of `halo run`."""

from halo.measure.candidates import PlanVariant
from halo.measure.deep.analysis import AnalysisNeeds, DeepAnalysis
from halo.record.sink_options import OBJECTS
from halo.studies.search.strategy import prospect

ANALYSIS = DeepAnalysis(
    "search",
    AnalysisNeeds({OBJECTS.name: 1}),
    prospect,
    (
        PlanVariant("search", "search"),
        *(PlanVariant(f"search-{rank}", "search", {"rank": f"{rank}"}) for rank in range(2, 6)),
    ),
)
