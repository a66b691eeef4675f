"""`results.json`: everything that was measured of one program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from halo.base.schema.aged import Aged
from halo.base.schema.simulation import CodeMisses, ContextMisses, SimulatedMachine, SimulatedRun
from halo.base.schema.summary import Summary
from halo.base.schema.trial import Trial, Trials
from halo.base.schema.values import Count, Number

FORMAT, VERSION = "halo-results", 2


class HugePages(Struct, frozen=True):
    """The kernel's settings of transparent huge pages."""

    enabled: str  # for instance `madvise`
    defrag: str = ""  # for instance `madvise`


class Machine(Struct, frozen=True):
    """The machine of a measurement."""

    processor: str  # its name
    cores: Count  # available to the measurement
    memory_bytes: Count  # installed memory
    kernel: str  # its release
    system: str  # the distribution
    huge_pages: HugePages  # settings
    load_average: tuple[Number, ...] = ()  # before the measurement
    versions: Mapping[str, str] = {}  # of halo, Python, the recorder and the allocators

    def __str__(self) -> str:
        return (
            f"{self.processor}, {self.cores} cores, kernel {self.kernel},"
            f" huge pages {self.huge_pages.enabled}"
        )


class MeasuredTrials(Struct, frozen=True):
    """All trials, each by the label of its configuration."""

    allocators_on_training: Trials = {}  # find the next allocators
    settings_on_training: Trials = {}  # allocators with a setting, and the same without
    candidates_on_training: Trials = {}  # the rounds of the race that choose the finalists
    finalists_on_training: Trials = {}  # the rounds that decide
    dropped_candidates_on_training: Trials = {}  # more rounds of dropped plans
    reference: Trials = {}  # allocators, and `halo`: the kept plan or allocator


class MeasuredConfiguration(Struct, frozen=True, omit_defaults=True):
    """The configuration of a label of the trials."""

    strategy: str  # `none`: no plan
    candidate: str  # its label
    allocator: str  # the next allocator
    identification: str | None = None  # how contexts are identified
    plan: str | None = None  # a file beside the results


class Simulations(Struct, frozen=True, kw_only=True):
    """One simulated run per configuration, all on the same input."""

    input: str  # `training` or `reference`
    configurations: Mapping[str, SimulatedRun]  # by label
    machine: SimulatedMachine  # the simulated machine
    code: tuple[CodeMisses, ...] = ()  # of a run under glibc, the most expensive first
    contexts: tuple[ContextMisses, ...] = ()  # of a run under glibc, the most expensive first


class Distance(Struct, frozen=True):
    """Trials under the plan of a recording at one affinity distance."""

    distance: Count  # bytes
    trials: Sequence[Trial]  # on the reference input


class Distances(Struct, frozen=True):
    """One strategy at several affinity distances, and the allocator beneath it alone."""

    strategy: str  # its name
    allocator: str  # the next allocator
    baseline: Sequence[Trial]  # of that allocator alone
    points: tuple[Distance, ...]  # readers sort them


class Results(Struct, frozen=True, omit_defaults=True):
    """`results.json` of `halo run`, `bench`, `eval baseline`, `eval compare` and `heap age`."""

    format: str  # `halo-results`
    version: int  # 2
    commands: Mapping[str, tuple[str, ...]]  # `train`, `reference`, `train-2`...; `options`
    machine: Machine  # where it was measured
    trials: MeasuredTrials  # every run
    summary: Summary  # of the trials
    configurations: Mapping[str, MeasuredConfiguration] = {}  # `eval compare`: by label
    training: Trials = field(default={}, name="training_trials_of_configurations")  # `eval compare`
    simulation: Simulations | None = None  # `eval compare`
    distances: Distances | None = None  # `eval compare --distance`
    aged: Aged | None = None  # `heap age`
