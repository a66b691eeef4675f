"""Figures of `halo study hints`: the importance of fields, and the accuracy of forests."""

import halo.report.figures  # noqa: F401 - before matplotlib, whose messages it turns off
