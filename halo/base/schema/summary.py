"""The summary of a measurement, as `--json` writes it and results files hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from msgspec import UNSET, Struct, UnsetType

from halo.base.schema.values import Count, Number, Quartiles, Seed, Share, Signed


class Times(Struct, frozen=True):
    """The trials of one configuration."""

    median: Number  # seconds
    quartiles: Quartiles  # seconds
    peak_memory: Count  # bytes, median
    system: Number = 0.0  # seconds of system time, median
    minor_faults: Count = 0  # median
    trials: Count = 0  # number of trials
    huge_bytes: Count | UnsetType = UNSET  # of the groups in huge pages, median; under a plan


class Change(Struct, frozen=True):
    """A change of time in per cent; less time is negative."""

    percent: Signed  # of the medians
    low: Signed  # of the 95 % interval
    high: Signed  # of the 95 % interval


class RacedCandidate(Struct, frozen=True):
    """A candidate of the race."""

    label: str  # variant and next allocator
    strategy: str  # `none`: no plan
    options: Mapping[str, str] = {}  # of strategy and plan
    allocator: str = ""  # the next allocator
    seconds: Number | None = None  # median by the deciding clock, in the rounds of `change`
    alone: Number | None = None  # of a plan: its allocator alone, in the same rounds
    quartiles: Quartiles | None = None  # seconds
    trials: Count = 0  # number of these trials; of a finalist, those in the final
    kept: bool = False  # whether it won
    in_final: bool = False  # whether it was a finalist
    change: Change | None = None  # by the plan, against its allocator alone in the same rounds


class Conclusion(Struct, frozen=True):
    """The conclusion of the measurement."""

    answer: str = ""  # as in docs/measuring.md, "The answer"
    sentence: str = ""  # the same, with the figures
    needed: str | None = None  # how to get an answer
    more: str = ""  # a second sentence: the gain over the best allocator, or what of placement


class RecordCost(Struct, frozen=True):
    """The cost of the recording of the training run."""

    seconds: Number  # under the recorder
    native_seconds: Number  # under glibc, median
    output_equal: bool  # whether its output was the native one
    slowdown: Number  # ratio of both
    engine: str = ""  # that recorded it; empty in results of older versions


class TriedAnalysis(Struct, frozen=True):
    """An analysis that needs a recording of every access: of `--effort thorough`, or named."""

    name: str  # of the analysis
    tried: bool  # whether its plans were made
    why: str  # why, or why not: a clause with the figure of its test
    plans: Count = 0  # number of its plans in the race


class LitterSettings(TypedDict):
    """How each heap was aged."""

    occupancy: Share  # fraction of the objects that stays
    multiplier: Number  # litter objects over the most that live at once in the program
    seed: NotRequired[Seed | None]  # `null`: every run had another
    shuffle: NotRequired[bool]  # whether any objects are freed, or those allocated last
    groups: NotRequired[bool]  # whether the plan's groups are littered, too
    data: NotRequired[str | None]  # the detector's output; `null`: detected


class Summary(Struct, frozen=True, kw_only=True):
    """The content of `--json` and `summary.json`; a value that was not measured is `null`."""

    program: str  # its name
    strategy: str | None = None  # of the kept plan or allocator
    candidate: str | None = None  # label of the kept plan or allocator
    allocator: str | None = None  # next allocator of the kept plan
    candidates: tuple[RacedCandidate, ...] = ()  # of the race
    allocators: Mapping[str, Times] = {}  # by name, on the reference input
    halo: Times | None = None  # the same for the kept plan or allocator
    best_baseline: str | None = None  # the allocator with the least median
    speedup: Number | None = None  # median of the best baseline over that of halo
    speedup_interval: Quartiles | None = None  # its 95 % interval
    verdict: Conclusion = Conclusion()  # the conclusion
    outputs_equal: bool | None = None  # to that of the first run; `null`: not compared
    outputs_compared: bool = True  # `false` with `--ignore-output`
    left_out: Mapping[str, str] = {}  # allocators that could not run the program, with the reason
    untried: Mapping[str, str] = {}  # settings that were not measured, with the reason
    record: RecordCost | None = None  # the cost of the recording
    unrecorded: bool = False  # whether no engine could record the program
    warnings: tuple[str, ...] = ()  # whatever makes the figures doubtful
    litter: LitterSettings | None = None  # the settings of `--litter`
    use: str | None = None  # what to use: `halo`, the kept plan, or an allocator with its setting
    options: Mapping[str, str] = {}  # of `--allocator`, by allocator, where they are not its name
    objective: str = "time"  # `time`, or `memory`: least peak among the fastest
    analyses: tuple[TriedAnalysis, ...] = ()  # that need every access, each tried or not, and why
    clock: str = ""  # that decides: processor time or wall-clock time
    over_native: Number | None = None  # how many times as fast `use` is as the program's own
    over_native_interval: Quartiles | None = None  # the interval of the test that decides
    native: str = "glibc"  # the allocator without halo: glibc or the name of a library
    failure: str | UnsetType = UNSET  # why the measurement ended early
