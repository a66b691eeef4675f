"""The variables of the detector and the litterer."""

from __future__ import annotations

from collections.abc import Mapping

LIBRARIES = ("LITTER", "DETECTOR")  # their variables may lack the prefix HALO_


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the user's settings of the two libraries."""
    own = tuple(f"{prefix}{library}_" for prefix in ("HALO_", "") for library in LIBRARIES)
    return {name: value for name, value in environment.items() if not name.startswith(own)}
