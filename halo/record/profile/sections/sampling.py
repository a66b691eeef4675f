"""The section of sampling, from the sink that makes the affinity graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from halo.record.profile.checks import Checks
from halo.record.profile.sections.section import Part, Section


@dataclass(frozen=True)
class Sampling:
    """The sampling of accesses if not all were recorded; counts are estimates for all.

    `edge_error` is the standard error of the edges' weights over the weights, both summed up.
    """

    bursts: int
    edge_error: float


class SamplingSection(Section[Sampling]):
    """Absent if all accesses were recorded."""

    key = "sampling"
    refers_to_stacks = False
    needs_all = False

    def read(self, checks: Checks, contexts: int, frames: int) -> Sampling:
        raw = checks.object(self.key)
        error = raw.get("edge_error")
        if not isinstance(error, int | float) or not 0 <= error <= 1:
            checks.bad("the edge_error of sampling is missing or not a share")
        return Sampling(checks.count(raw, "bursts"), float(error))

    def write(self, value: Sampling) -> dict[str, Any]:
        return asdict(value)

    def merge(self, parts: Sequence[Part], program: str) -> Sampling | None:
        """The sampling of all parts, with errors weighted by edges; a part without is exact."""
        found = [self.of(part.profile) for part in parts]
        if not any(found):
            return None
        weights = [sum(weight for _, _, weight in part.profile.edges) for part in parts]
        errors = [it.edge_error * w for it, w in zip(found, weights, strict=True) if it]
        return Sampling(sum(it.bursts for it in found if it), fsum(errors) / max(1, sum(weights)))

    def repeated(self, value: Sampling, times: int) -> Sampling:
        return value


SAMPLING = SamplingSection()
