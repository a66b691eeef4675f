"""The sections that profiles may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halo.record.profile.model import Profile
from halo.record.profile.sections.cache_sweep import CACHE_SWEEP
from halo.record.profile.sections.conflicts import CONFLICTS
from halo.record.profile.sections.digests import DIGESTS
from halo.record.profile.sections.generated_code import GENERATED_CODE
from halo.record.profile.sections.hot_streams import HOT_STREAMS
from halo.record.profile.sections.inputs import INPUTS
from halo.record.profile.sections.loaded import LOADED
from halo.record.profile.sections.object_trace import OBJECT_TRACE
from halo.record.profile.sections.sampling import SAMPLING
from halo.record.profile.sections.section import Section
from halo.record.profile.sections.simulation import SIMULATION
from halo.record.profile.sections.source_calls import SOURCE_CALLS

# In the order of the file. To add a section, add its file and one line here.
SECTIONS: Sequence[Section[Any]] = [
    SAMPLING,
    LOADED,
    DIGESTS,
    GENERATED_CODE,
    SOURCE_CALLS,
    HOT_STREAMS,
    SIMULATION,
    CACHE_SWEEP,
    CONFLICTS,
    OBJECT_TRACE,
    INPUTS,
]


def sections_without_stacks(profile: Profile) -> dict[str, Any]:
    """The sections that stay valid if contexts and frames change."""
    kept = {section.key for section in SECTIONS if not section.refers_to_stacks}
    return {key: value for key, value in profile.sections.items() if key in kept}
