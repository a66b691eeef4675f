"""The confinement of polluting contexts, as a deep analysis of `halo run`."""

from halo.recording.parts import MAX_TRACED
from halo.recording.sink_options import OBJECTS
from halo.strategies.confine import prospect
from halo.trials.candidates import PlanVariant
from halo.trials.deep.analysis import DeepAnalysis, Needs

ANALYSIS = DeepAnalysis(
    "confine",
    Needs({OBJECTS.name: 1}, MAX_TRACED),
    prospect,
    (PlanVariant("confine", "confine", {"watched": "false"}),),
)
