"""The figures 3, 5, 7 and 8 of NightWatch (Guo et al., ATC 2015)."""

from __future__ import annotations

from halo.studies.pollution.figures.distribution import (
    Distribution,
    DistributionFigure,
    Points,
    cumulative,
    of_values,
)
from halo.studies.pollution.locality.document import Locality

MACHINE = "One simulated run of each program."
RATED = "Objects and pages with fewer than eight accesses of the last level are left out."


def _contexts(found: Locality) -> Points:
    """Allocations by the number of allocations of their context, the fewest first."""
    counts = [one.objects for one in found.contexts if one.objects]
    return of_values([float(count) for count in counts], counts)


def _variances(found: Locality) -> Points:
    variances = [one.variance for one in found.contexts if one.rated > 1]
    return of_values(variances, [1] * len(variances))


MISS_RATES = DistributionFigure(
    Distribution(
        name="miss-rates",
        summary="objects by their miss rate in the last-level cache, of halo study locality",
        title="Objects by their miss rate in the last-level cache",
        axis="miss rate of an object, at most",
        shares="objects with a miss rate",
        note=f"{MACHINE} {RATED}",
        ticks=(0.1, 0.5, 0.9),
        points=lambda found: cumulative(found.objects),
    )
)
PAGE_DIFFERENCES = DistributionFigure(
    Distribution(
        name="page-differences",
        summary="pages by how much their miss rate differs from their object's (figure 5)",
        title="Pages by how much they differ from their object",
        axis="difference of miss rates, at most",
        shares="pages of objects with several",
        note=f"{MACHINE} {RATED}",
        ticks=(0.01, 0.05, 0.1, 0.5),
        points=lambda found: cumulative(found.page_differences),
    )
)
CONTEXT_SIZES = DistributionFigure(
    Distribution(
        name="context-sizes",
        summary="allocations by the number of allocations of their context (figure 7)",
        title="Allocations by the size of their context",
        axis="allocations of a context, at most",
        shares="allocations",
        note=MACHINE,
        ticks=(1, 10, 100, 1000, 10000),
        points=_contexts,
        logarithmic=True,
    )
)
VARIANCES = DistributionFigure(
    Distribution(
        name="variances",
        summary="contexts by the variance of the miss rates of their objects (figure 8)",
        title="Contexts by the variance of their objects' miss rates",
        axis="variance, at most",
        shares="contexts with several rated objects",
        note=f"{MACHINE} {RATED}",
        ticks=(0, 0.01, 0.05, 0.1),
        points=_variances,
    )
)
