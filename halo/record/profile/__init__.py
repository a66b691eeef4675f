"""Profiles: reads, merges and writes the result of a recording (docs/profile-format.md)."""

from halo.record.profile.affinity import AffinityGraph, affinity_graph
from halo.record.profile.frame_names import name_frames
from halo.record.profile.merge import merge_parts, merge_profiles
from halo.record.profile.model import (
    FORMAT,
    VERSION,
    Context,
    Frame,
    Module,
    Parameters,
    Profile,
    Recorder,
    Totals,
)
from halo.record.profile.reader import read_profile
from halo.record.profile.recorded import recorded_program
from halo.record.profile.repeat import repeated
from halo.record.profile.sections.cache_sweep import CACHE_SWEEP
from halo.record.profile.sections.conflicts import CONFLICTS, Conflicts
from halo.record.profile.sections.digests import DIGESTS, digest_in, is_unlike, with_digests
from halo.record.profile.sections.generated_code import GENERATED_CODE
from halo.record.profile.sections.hot_streams import HOT_STREAMS, CoAllocationSet, HotStreams
from halo.record.profile.sections.inputs import INPUTS, InputRun
from halo.record.profile.sections.loaded import LOADED, process_modules
from halo.record.profile.sections.object_trace import OBJECT_TRACE, ObjectTrace
from halo.record.profile.sections.sampling import SAMPLING, Sampling
from halo.record.profile.sections.simulation import SIMULATION
from halo.record.profile.sections.source_calls import SOURCE_CALLS, SourceCall, SourceCalls
from halo.record.profile.simulation import Simulation, Tally
from halo.record.profile.unrecorded import is_recorded, unrecorded_profile
from halo.record.profile.writer import profile_json, write_profile

__all__ = [
    "CACHE_SWEEP",
    "CONFLICTS",
    "DIGESTS",
    "FORMAT",
    "GENERATED_CODE",
    "HOT_STREAMS",
    "INPUTS",
    "LOADED",
    "OBJECT_TRACE",
    "SAMPLING",
    "SIMULATION",
    "SOURCE_CALLS",
    "VERSION",
    "AffinityGraph",
    "CoAllocationSet",
    "Conflicts",
    "Context",
    "Frame",
    "HotStreams",
    "InputRun",
    "Module",
    "ObjectTrace",
    "Parameters",
    "Profile",
    "Recorder",
    "Sampling",
    "Simulation",
    "SourceCall",
    "SourceCalls",
    "Tally",
    "Totals",
    "affinity_graph",
    "digest_in",
    "is_recorded",
    "is_unlike",
    "merge_parts",
    "merge_profiles",
    "name_frames",
    "process_modules",
    "profile_json",
    "read_profile",
    "recorded_program",
    "repeated",
    "unrecorded_profile",
    "with_digests",
    "write_profile",
]
