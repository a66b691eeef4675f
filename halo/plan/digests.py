"""Digests of a plan's modules, so that other content with an equal build-id does not match."""

from __future__ import annotations

from halo.base.errors import BadInput
from halo.plan.model import PlanModule
from halo.record.profile import digest_in, is_unlike
from halo.record.profile.model import Module, Profile


def refuse_unlike(profile: Profile) -> None:
    """Raises `BadInput` if a file has a recorded build-id, but not the recorded content.

    Walk rules are read from these files, and would be those of other code.
    """
    for module in profile.modules:
        if is_unlike(profile, module):
            raise BadInput(
                f"{module.path} has the build-id that was recorded, but other content; record it"
                " again."
            )


def with_layout(profile: Profile, module: PlanModule) -> PlanModule:
    """The module with the digest of its layout, if that is known."""
    found = digest_in(profile, Module(module.path, module.build_id))
    return module._replace(layout=found.layout)
