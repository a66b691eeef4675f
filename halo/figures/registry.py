"""The list of figures of `halo plot`."""

from __future__ import annotations

from collections.abc import Sequence

from halo.errors import UsageError
from halo.figures.affinity_graph import AffinityGraphFigure
from halo.figures.aged.occupancy import OccupancyFigure
from halo.figures.aged.table import AgedFigure
from halo.figures.answers import AnswersFigure
from halo.figures.bars import BarsFigure
from halo.figures.base import Figure
from halo.figures.cache_sweep import CacheSweepFigure
from halo.figures.configurations import ConfigurationsFigure
from halo.figures.conflicts.classes import ConflictsFigure
from halo.figures.conflicts.sets import SetsFigure
from halo.figures.distances import DistancesFigure
from halo.figures.footprint import FootprintFigure
from halo.figures.fragmentation import FragmentationFigure
from halo.figures.heap_misses import HeapMissesFigure
from halo.figures.hints.forests import FORESTS
from halo.figures.hints.importance import IMPORTANCE
from halo.figures.hints.sweep import TidySweepFigure
from halo.figures.layouts.object_graph import ObjectGraphFigure
from halo.figures.layouts.orders import OrdersFigure
from halo.figures.locality.figures import (
    CONTEXT_SIZES,
    MISS_RATES,
    PAGE_DIFFERENCES,
    VARIANCES,
)
from halo.figures.misses import MissesFigure
from halo.figures.model import ModelFigure
from halo.figures.random_pools import RandomPoolsFigure
from halo.figures.speedup import SpeedupFigure
from halo.figures.split import SplitFigure

# To add a figure, add its file and one line here.
FIGURES: Sequence[Figure] = (
    AffinityGraphFigure(),
    DistancesFigure(),
    OccupancyFigure(),
    MissesFigure(),
    SpeedupFigure(),
    AnswersFigure(),
    RandomPoolsFigure(),
    FragmentationFigure(),
    BarsFigure(),
    ConfigurationsFigure(),
    AgedFigure(),
    ModelFigure(),
    HeapMissesFigure(),
    CacheSweepFigure(),
    FootprintFigure(),
    ConflictsFigure(),
    SetsFigure(),
    SplitFigure(),
    OrdersFigure(),
    ObjectGraphFigure(),
    IMPORTANCE,
    FORESTS,
    TidySweepFigure(),
    MISS_RATES,
    PAGE_DIFFERENCES,
    CONTEXT_SIZES,
    VARIANCES,
)


def find_figure(name: str) -> Figure:
    """The figure of that name; raises `UsageError` (listing all) if there is none."""
    for figure in FIGURES:
        if figure.name == name:
            return figure
    names = ", ".join(figure.name for figure in FIGURES)
    raise UsageError(f"The figure '{name}' does not exist; choose one of: {names}.")
