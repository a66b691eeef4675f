"""Figures of conflicts in the first cache."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
