"""The variables of the detector and the litterer."""

from __future__ import annotations

from collections.abc import Mapping


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without settings of the two libraries, which would mix with ours."""
    own = ("LITTER_", "DETECTOR_")
    return {name: value for name, value in environment.items() if not name.startswith(own)}
