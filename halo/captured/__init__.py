"""Hints for unmodified programs: from recorded contents of objects, and from machine code."""

from halo.captured.learn import learn_hints
from halo.captured.rules import site_hints

__all__ = ["learn_hints", "site_hints"]
