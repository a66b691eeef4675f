"""Figures and tables of results, as files: `base` defines the interface, `registry` lists all."""

import logging

# Before it is loaded: it would speak of caches that cannot be written, and of missing glyphs.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

from halo.figures.base import Figure, Options  # noqa: E402
from halo.figures.registry import FIGURES, find_figure  # noqa: E402

__all__ = ["FIGURES", "Figure", "Options", "find_figure"]
