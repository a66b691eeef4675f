"""Figures of `halo locality`: how alike the pages of objects and the objects of contexts are."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
