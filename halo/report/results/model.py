"""One measured program: its results file, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from halo.base.schema.results import Machine, MeasuredConfiguration, Results
from halo.base.schema.summary import LitterSettings, Summary
from halo.base.schema.trial import Trials
from halo.binary.process.allocators import GLIBC, KNOWN
from halo.measure.candidates import NONE
from halo.measure.racing.gains import HALO


@dataclass(frozen=True)
class Measurement:
    """One program's results, and the file that has them."""

    path: Path
    results: Results

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def summary(self) -> Summary:
        return self.results.summary

    @property
    def program(self) -> str:
        """The program's name, with `?` for bytes that are not UTF-8."""
        return self.summary.program.encode("utf-8", "replace").decode()

    @property
    def machine(self) -> Machine:
        return self.results.machine

    @property
    def reference(self) -> Trials:
        return self.results.trials.reference

    @property
    def configurations(self) -> Mapping[str, MeasuredConfiguration]:
        return self.results.configurations

    @property
    def litter(self) -> str:
        """How every heap of `reference` was littered; empty: they were not."""
        return "" if self.summary.litter is None else _describe(self.summary.litter)

    @property
    def allocators(self) -> list[str]:
        """The measured allocators, in the order of halo's tables."""
        names = dict.fromkeys((self.summary.native, *KNOWN, *self.reference))
        plans = {HALO, *self.configurations} - {self.summary.native, *KNOWN}
        return [name for name in names if name in self.reference and name not in plans]

    @property
    def kept(self) -> MeasuredConfiguration | None:
        """None if only the allocators were measured."""
        found = self.summary
        if found.strategy is None or found.candidate is None or found.allocator is None:
            return None
        kept = MeasuredConfiguration(
            found.strategy, found.candidate, found.allocator, plan=f"{found.candidate}.plan"
        )
        return self.configurations.get(found.candidate, kept)

    @property
    def keeps_own(self) -> bool:
        """Whether the kept plan is over a library that the program has without halo."""
        return self.kept is not None and self.kept.allocator == self.summary.native != GLIBC

    @property
    def keeps_none(self) -> bool:
        """True if no plan was kept: halo's trials are then those of an allocator."""
        return self.kept is not None and self.kept.strategy == NONE

    @property
    def plans_tried(self) -> int:
        """The candidates of the race, each once, over any allocator."""
        plans = [it for it in self.summary.candidates if it.strategy != NONE]
        return len({it.label.partition(" over ")[0] for it in plans})


def _describe(litter: LitterSettings) -> str:
    """The settings in words, also those of the clean heap of `halo study heap age`."""
    if not litter["multiplier"]:
        return "clean, timed from where the program begins"
    return f"littered, occupancy {litter['occupancy']:g}, multiplier {litter['multiplier']:g}"
