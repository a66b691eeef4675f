"""Hints for unmodified programs: from recorded contents of objects, and from machine code."""

from halo.captured.learn import learn_hints
from halo.captured.refusals import sentence
from halo.captured.rules import site_hints
from halo.captured.sites import survey

__all__ = ["learn_hints", "sentence", "site_hints", "survey"]
