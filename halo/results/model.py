"""One measured program as frozen data: what `results.json` of run, bench or evaluate holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from halo.allocators import KNOWN
from halo.trials.candidates import NONE

HALO = "halo"
"""The label of the plan that the race of `halo run` kept."""


@dataclass(frozen=True)
class Pool:
    """A group's memory in one run, in bytes."""

    peak_bytes: int
    peak_resident_bytes: int
    live_at_peak_bytes: int

    @property
    def waste(self) -> int:
        """What was resident and not live when most was resident."""
        return max(0, self.peak_resident_bytes - self.live_at_peak_bytes)


@dataclass(frozen=True)
class Trial:
    """One measured run, in seconds and bytes; `counters` are the processor's, where counted."""

    wall: float
    user: float
    system: float
    peak_memory: int
    minor_faults: int = 0
    pools: tuple[Pool, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    status: int = 0


Trials = Mapping[str, Sequence[Trial]]
"""Label → trials; the same index is the same round."""


@dataclass(frozen=True)
class Contender:
    """What a label of the reference trials stands for; `plan` is a file beside the results."""

    strategy: str
    candidate: str
    allocator: str
    identification: str | None = None
    plan: str | None = None


@dataclass(frozen=True)
class Level:
    """A cache or TLB of the simulated machine: its name, and its figures as they were set."""

    name: str
    figures: Mapping[str, int]


@dataclass(frozen=True)
class SimulatedMachine:
    """The memory hierarchy that was simulated; sizes in bytes, costs in cycles."""

    line: int
    page: int
    caches: tuple[Level, ...]
    tlbs: tuple[Level, ...]
    memory_cycles: int
    walk_cycles: int


@dataclass(frozen=True)
class Simulated:
    """What the simulator counted in one contender's run."""

    instructions: int
    accesses: int
    cycles: int
    misses: Mapping[str, int]


@dataclass(frozen=True)
class Misses:
    """Accesses and misses of one allocation context (its id) or of one place in the code."""

    place: str
    accesses: int
    misses: Mapping[str, int]


@dataclass(frozen=True)
class Simulation:
    """One simulated run per contender, all on the same input."""

    input: str
    machine: SimulatedMachine
    contenders: Mapping[str, Simulated]
    contexts: tuple[Misses, ...] = ()
    code: tuple[Misses, ...] = ()


@dataclass(frozen=True)
class Distance:
    """Trials under the plan of a recording at one affinity distance, in bytes."""

    distance: int
    trials: Sequence[Trial]


@dataclass(frozen=True)
class Distances:
    """The same strategy at several affinity distances, and the allocator beneath it alone."""

    strategy: str
    allocator: str
    baseline: Sequence[Trial]
    points: tuple[Distance, ...]


class Kind(Enum):
    """What a contender on aged heaps is: the program's own allocator, a library's, a plan."""

    CUSTOM = "custom"
    ALLOCATOR = "allocator"
    PLAN = "plan"


@dataclass(frozen=True)
class AgedContender:
    """A label of the trials on aged heaps; `allocator` serves it, or is beneath its plan.

    `plan` is a file beside the results. `groups` is true where the plan's groups were littered,
    too: on the clean heap that would be the plan alone, and has no trials. `program` is named where
    it is another one than the measurement's.
    """

    kind: Kind
    allocator: str
    plan: str | None = None
    groups: bool = False
    program: str | None = None


@dataclass(frozen=True)
class Split:
    """Parts of the samples, 0 to 1, that lay inside the allocator's library and outside."""

    inside: float
    outside: float
    samples: int


@dataclass(frozen=True)
class AgedLevel:
    """All contenders on heaps that keep one share of their litter.

    `occupancy` is that share, 0 to 1, or None for the clean heap. `split` lacks what was not
    sampled, `simulated` what was not simulated. Neither they nor the times of trials contain the
    littering.
    """

    occupancy: float | None
    trials: Trials
    split: Mapping[str, Split] = field(default_factory=dict)
    simulated: Mapping[str, Simulated] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "clean" if self.occupancy is None else f"{self.occupancy:g}"


@dataclass(frozen=True)
class Aged:
    """A program on clean and on littered heaps.

    `multiplier` is the number of litter objects over the most that live at once in the program.
    `seed` is None where every run had another. `levels` begin with the clean heap and go on from
    the highest occupancy to the lowest: the more to the right, the more holes.
    """

    multiplier: float
    shuffle: bool
    seed: int | None
    contenders: Mapping[str, AgedContender]
    levels: tuple[AgedLevel, ...]
    machine: SimulatedMachine | None = None

    @property
    def clean(self) -> AgedLevel:
        return self.levels[0]


@dataclass(frozen=True)
class Recording:
    """What recording the training run cost, in seconds."""

    seconds: float
    native_seconds: float
    slowdown: float


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    processor: str
    cores: int
    memory_bytes: int
    kernel: str
    system: str
    huge_pages: str
    versions: Mapping[str, str]

    def __str__(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores, kernel {self.kernel},"
            f" huge pages {self.huge_pages}"
        )


@dataclass(frozen=True)
class Measurement:
    """One program's results. `kept` is None where only the allocators were measured."""

    path: Path
    program: str
    commands: Mapping[str, Sequence[str]]
    machine: Machine
    reference: Trials
    kept: Contender | None = None
    plans_tried: int = 0
    speedup: float | None = None
    speedup_interval: tuple[float, float] | None = None
    recording: Recording | None = None
    warnings: tuple[str, ...] = ()
    answer: str = ""
    """What the measurement showed, as `halo.trials.placement.Answer` names it; empty: not said."""
    sentence: str = ""
    """The answer's sentence."""
    outputs_compared: bool = True
    contenders: Mapping[str, Contender] = field(default_factory=dict)
    simulation: Simulation | None = None
    training: Trials = field(default_factory=dict)
    distances: Distances | None = None
    litter: str = ""
    """How every heap of `reference` was littered; empty: they were not."""
    aged: Aged | None = None

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def allocators(self) -> list[str]:
        """The measured allocators, in the order of halo's tables."""
        return [name for name in KNOWN if name in self.reference]

    @property
    def keeps_none(self) -> bool:
        """True where no plan was kept: halo's trials are then those of an allocator."""
        return self.kept is not None and self.kept.strategy == NONE
