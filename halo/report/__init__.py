"""One self-contained page about results, for people: `page` puts it together.

Every other module makes one part of it as plain data: `verdict` (what was found), `bars` (charts),
`times`, `misses`, `memory`, `groups`, `picture` (the affinity graph) `repeating` (commands) and
`analysis` (what analyses of a trace have found).
"""

from halo.report.page import render_report

__all__ = ["render_report"]
