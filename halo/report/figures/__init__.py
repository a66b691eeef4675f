"""Figures and tables of results, as files: `base` defines the interface, `registry` lists all."""

import logging

# Before it is loaded: it would speak of caches that cannot be written, and of missing glyphs.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
