"""Figures of analyses of traces."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
