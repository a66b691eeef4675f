"""Figures of `halo study layout`: other orders of objects, and the graph that they come from."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
