"""Profiles: what a recording leaves behind (docs/profile-format.md), read, merged and written."""

from halo.profile.affinity import AffinityGraph, affinity_graph
from halo.profile.merging import merge_parts
from halo.profile.model import (
    FORMAT,
    VERSION,
    Context,
    Frame,
    Module,
    Parameters,
    Profile,
    Recorder,
    Sampling,
    Totals,
)
from halo.profile.naming import name_frames
from halo.profile.reading import read_profile
from halo.profile.simulation import Simulation, Tally
from halo.profile.streams import CoAllocationSet, HotStreams
from halo.profile.writing import profile_json, write_profile

__all__ = [
    "FORMAT",
    "VERSION",
    "AffinityGraph",
    "CoAllocationSet",
    "Context",
    "Frame",
    "HotStreams",
    "Module",
    "Parameters",
    "Profile",
    "Recorder",
    "Sampling",
    "Simulation",
    "Tally",
    "Totals",
    "affinity_graph",
    "merge_parts",
    "name_frames",
    "profile_json",
    "read_profile",
    "write_profile",
]
