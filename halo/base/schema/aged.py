"""Clean and aged heaps: the key `aged` of a results file; the summary of `halo study heap age`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import UNSET, Struct, UnsetType

from halo.base.schema.simulation import SimulatedMachine, SimulatedRun
from halo.base.schema.trial import Trials
from halo.base.schema.values import Count, Number, Quartiles, Seed, Share


class AllocatorKind(Enum):
    """The program's own allocator, a library's, or a plan."""

    CUSTOM = "custom"
    ALLOCATOR = "allocator"
    PLAN = "plan"


class AgedConfiguration(Struct, frozen=True):
    """The configuration of a label of the trials on aged heaps."""

    kind: AllocatorKind  # `custom`: the program's own allocator
    allocator: str  # of the configuration, or the next allocator of its plan
    plan: str | None = None  # a file beside the results
    groups: bool = False  # whether the plan's groups were littered, too
    program: str | None = None  # if it is another one than the measurement's


class Split(Struct, frozen=True):
    """Samples inside the allocator's library and outside: shares that add up to 1."""

    inside: Share  # share of the samples
    outside: Share  # share of the samples
    samples: Count  # number of samples


class AgedLevel(Struct, frozen=True):
    """All configurations on heaps that keep one share of their litter."""

    occupancy: Share | None  # that share; `null`: the clean heap
    trials: Trials  # by label; a plan with littered groups has none on the clean heap
    split: Mapping[str, Split] = {}  # by label, if it was sampled
    simulated: Mapping[str, SimulatedRun] | UnsetType = UNSET  # by label, if it was simulated

    @property
    def name(self) -> str:
        return "clean" if self.occupancy is None else f"{self.occupancy:g}"

    @property
    def runs(self) -> Mapping[str, SimulatedRun]:
        """The simulated runs by label."""
        return self.simulated or {}


class Aged(Struct, frozen=True):
    """A program on clean and on aged heaps."""

    multiplier: Number  # litter objects over the most that live at once in the program
    shuffle: bool  # whether any objects are freed, or those allocated last
    seed: Seed | None  # `null`: every run had another
    configurations: Mapping[str, AgedConfiguration]  # by label
    levels: tuple[AgedLevel, ...]  # readers sort them: clean, then by descending occupancy
    machine: SimulatedMachine | UnsetType = UNSET  # the simulated machine

    @property
    def clean(self) -> AgedLevel:
        return self.levels[0]


class AgedTimes(Struct, frozen=True):
    """Seconds of one configuration at one occupancy."""

    median: Number  # seconds
    quartiles: Quartiles  # seconds
    ratio: Number  # of the median to that of the baseline on the clean heap
    trials: Count  # number of trials


class AgedTimesOfLevel(Struct, frozen=True):
    """All configurations at one occupancy."""

    occupancy: Share | None  # `null`: the clean heap
    configurations: Mapping[str, AgedTimes]  # by label


class AgedSummary(Struct, frozen=True):
    """The output of `halo study heap age --json`."""

    program: str  # its name
    baseline: str  # its own allocator, or the fastest on the clean heap
    multiplier: Number  # as in `aged`
    levels: tuple[AgedTimesOfLevel, ...]  # clean, then by descending occupancy
