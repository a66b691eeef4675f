"""Hints for unmodified programs: from recorded contents of objects, and from machine code."""

from halo.captured.learn import kinds_with_values, learn_hints
from halo.captured.refusals import sentence
from halo.captured.rules import site_hints
from halo.captured.sites import survey

__all__ = ["kinds_with_values", "learn_hints", "sentence", "site_hints", "survey"]
