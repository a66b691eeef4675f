"""One self-contained page about measurements, for people: `page` puts it together.

Every other module makes one part of it as plain data: `verdict` (what was found), `bars` (charts),
`times`, `misses`, `memory`, `groups`, `picture` (the affinity graph) and `repeating` (commands).
"""

from halo.report.page import render_report

__all__ = ["render_report"]
