"""The program that a profile is of."""

from __future__ import annotations

import os

from halo.record.profile.model import Profile
from halo.record.profile.sections.source_calls import SOURCE_CALLS


def recorded_program(profile: Profile) -> str:
    """The path of the recorded program without symbolic links; empty if it is unknown.

    As it was at the recording, if the profile has that: a link may lead to another build by now.
    """
    calls = SOURCE_CALLS.of(profile)
    if calls is not None:
        return calls.program
    return os.path.realpath(profile.program) if profile.program else ""
