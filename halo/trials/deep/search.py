"""The search by predicted misses, as a deep analysis of `halo run`."""

from halo.recording.sink_options import OBJECTS
from halo.strategies.search import prospect
from halo.trials.candidates import PlanVariant
from halo.trials.deep.analysis import DeepAnalysis, Needs

ANALYSIS = DeepAnalysis(
    "search",
    Needs({OBJECTS.name: 1}),
    prospect,
    (
        PlanVariant("search", "search"),
        *(PlanVariant(f"search-{rank}", "search", {"rank": f"{rank}"}) for rank in range(2, 6)),
    ),
)
