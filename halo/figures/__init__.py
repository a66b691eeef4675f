"""Figures and tables of results, as files: `base` defines the interface, `registry` lists all."""

from halo.figures.base import Figure, Options
from halo.figures.registry import FIGURES, find_figure

__all__ = ["FIGURES", "Figure", "Options", "find_figure"]
