"""Figures of `halo study locality`: how alike pages of objects and objects of contexts are."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
