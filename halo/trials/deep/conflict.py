"""Placement by cache set, as a deep analysis of `halo run`."""

from halo.recording.parts import largest_followed
from halo.strategies.conflict import prospect
from halo.trials.candidates import PlanVariant
from halo.trials.deep.analysis import DeepAnalysis, Needs

ANALYSIS = DeepAnalysis(
    "conflict",
    Needs({"conflicts": "this"}, largest_followed(conflicts=True)),
    prospect,
    (PlanVariant("conflict", "conflict"),),
)
