"""Makes the same plan for another build of the program, or of its libraries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from halo.base.errors import BadInput
from halo.binary.elf import build_id_of
from halo.plan import Plan
from halo.plan.strategies.planning import make_plan
from halo.plan.updates.origin import Origin, OriginalProfile
from halo.record.profile import LOADED, Module, Profile, is_unlike
from halo.record.transfer import Carried, carry_over, recorded_module

ENOUGH = 0.9  # share of the accesses below which the new build should be recorded


@dataclass(frozen=True)
class Renewed:
    """The plan for the other build; how many of the recorded contexts it has.

    `share` is theirs of the recorded accesses, 0 to 1. `same_build` if nothing had to be carried
    over.
    """

    plan: Plan
    kept: int
    contexts: int
    share: float
    same_build: bool

    @property
    def enough(self) -> bool:
        return self.share >= ENOUGH


def renew(origin: Origin, recording: OriginalProfile, program: Path) -> Renewed:
    """The plan of the same strategy and options for `program`.

    Raises `BadInput` as `carry_over` does, and if no grouped context is in that program.
    """
    profile = _with_libraries_of_today(recording.profile)
    carrier = None if _is_recorded(profile, program) else _Carrier(program)
    plan = make_plan(profile, origin.strategy, origin.options, carrier, recording.file)
    if plan.is_inert:
        raise BadInput(
            f"Nothing that {origin.path} places is in {program}; record that build and plan again."
        )
    assert plan.review is not None
    plan = replace(plan, review=replace(plan.review, allocator=origin.allocator))
    if carrier is None or carrier.found is None:
        return Renewed(plan, len(profile.contexts), len(profile.contexts), 1.0, True)
    found = carrier.found
    lost = sum(found.unified.contexts[at].accesses for at in found.lost)
    share = 1 - lost / max(found.unified.accesses, 1)
    kept = len(found.became) - len(found.lost)
    return Renewed(plan, kept, len(found.became), share, False)


class _Carrier:
    """Carries a profile over, and keeps what was found."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self.found: Carried | None = None

    def __call__(self, profile: Profile) -> Carried:
        self.found = carry_over(profile, self._program)
        return self.found


def _is_recorded(profile: Profile, program: Path) -> bool:
    """Whether it is the recorded build, which is also still where it was."""
    recorded = recorded_module(profile)
    same = build_id_of(program) == recorded.build_id == build_id_of(recorded.path)
    return same and not any(is_unlike(profile, recorded, path) for path in ("", str(program)))


def _with_libraries_of_today(profile: Profile) -> Profile:
    """The profile with the present builds of the libraries, which the alignment proof reads."""
    loaded = LOADED.of(profile)
    if loaded is None:
        return profile
    own = recorded_module(profile)
    today = tuple(it if it == own else it._replace(build_id=_today(it)) for it in loaded)
    return replace(profile, sections={**profile.sections, LOADED.key: today})


def _today(module: Module) -> str:
    return build_id_of(module.path) or module.build_id
