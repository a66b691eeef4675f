"""One measured run, as every results file has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from msgspec import Struct

from halo.base.schema.values import Count, Number, Positive


class Pool(TypedDict):
    """A group's memory in one run."""

    peak_bytes: Count  # most bytes that were live at once
    peak_resident_bytes: Count  # most bytes that were resident at once
    live_at_peak_bytes: Count  # bytes that were live when most were resident


class Runtime(TypedDict, total=False):
    """The statistics of `libhalo.so`; readers ignore the keys that are not listed."""

    active: bool  # whether the plan had an effect
    reason: str  # why it had none
    calls_taken_by: str  # a library before halo that has taken calls of malloc, else empty
    groups: list[Pool]  # in the order of the plan
    huge_bytes: Count  # bytes of the groups in huge pages
    other_processes: Count  # further processes that had the library and ended by `exit`
    report_seconds: Number  # the cost of these statistics; `wall` does not contain it


class Trial(Struct, frozen=True):
    """One run. On an aged heap, the times are without the littering."""

    wall: Positive  # seconds from start to end
    user: Number  # seconds of user time
    system: Number  # seconds of system time
    peak_memory: Count  # bytes
    runtime: Runtime = {}  # of a run under a plan
    counters: Mapping[str, Count | Number] = {}  # processor and kernel events, by perf's names
    litter: Mapping[str, Any] = {}  # the litterer's log
    status: Count = 0  # exit status
    stderr_bytes: Count = 0  # bytes written to standard error
    minor_faults: Count = 0  # page faults that read nothing from a disk
    main_processor: Number = 0.0  # processor time of the main thread; 0: unknown
    delayed: Number = 0.0  # seconds that it was ready, but had no processor
    in_slices: bool = False  # its whole round ran in time slices; `wall` is the sum of its own

    @property
    def huge_bytes(self) -> int:
        return self.runtime.get("huge_bytes", 0)

    @property
    def pools(self) -> Sequence[Pool]:
        return self.runtime.get("groups", [])


Trials = Mapping[str, Sequence[Trial]]
"""Label → trials; the same index is the same round."""
