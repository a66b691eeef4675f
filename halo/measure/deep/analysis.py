"""The deep analyses of `halo run`: plans that need a recording of every access."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from halo.measure.candidates import PlanVariant
from halo.plan.strategies.base import Prospect, StrategyInput
from halo.plan.strategies.factory import subject_of
from halo.record.parts import MAX_OBJECT, Limits
from halo.record.profile import OBJECT_TRACE, Profile
from halo.record.profile.sections.section import Section


@dataclass(frozen=True)
class AnalysisNeeds:
    """What has to be recorded: options of sinks, and the largest object to follow, in bytes."""

    sinks: Mapping[str, int | str] = field(default_factory=dict)
    max_object: int = MAX_OBJECT

    def variants(self, given: Iterable[PlanVariant], limits: Limits) -> list[PlanVariant]:
        """The same variants in a recording with these limits.

        They place the objects that a recording of their own would follow, whatever else is tried.
        """
        is_wider = limits.max_object > self.max_object
        return [it.limited(self.max_object) if is_wider else it for it in given]


@dataclass(frozen=True)
class DeepAnalysis:
    """Plans that need a recording of every access.

    `test` is cheap, and tells whether the plans could matter to the recorded program.
    """

    name: str
    needs: AnalysisNeeds
    test: Callable[[StrategyInput], Prospect]
    variants: tuple[PlanVariant, ...]

    @property
    def section(self) -> Section[Any]:
        """The section of the profile that is recorded for it."""
        found = self.variants[0].needs
        assert found is not None
        return found

    @property
    def is_of_one_run(self) -> bool:
        """Whether it plans from a trace, which is of one run and cannot be merged."""
        return self.section is OBJECT_TRACE

    def is_named(self, names: Collection[str]) -> bool:
        """Whether one of the names is its own, or the label of one of its variants."""
        return self.name in names or any(it.label in names for it in self.variants)

    def prospect(self, profile: Profile) -> Prospect:
        """The result of its test."""
        if self.section.of(profile) is None:
            return Prospect(False, f"the recording has no section {self.section.key}")
        return self.test(subject_of(profile, f"{self.needs.max_object}"))


def limits_for(analyses: Iterable[DeepAnalysis], distance: int) -> Limits:
    """The parameters of a recording that all of them can use; `distance` is that of affinity."""
    sinks: dict[str, int | str] = {"distance": distance}
    max_object = MAX_OBJECT
    for one in analyses:
        sinks |= one.needs.sinks
        max_object = max(max_object, one.needs.max_object)
    return Limits(max_object, sinks)
