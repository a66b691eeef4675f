"""One self-contained HTML page about results, assembled by `page`.

Every other module makes one part of it as plain data: `verdict` (the finding), `bars` (charts),
`field` and `field_chart` (all configurations), `overview` (all programs), `misses`, `groups`,
`picture` (the affinity graph), `repeat_commands` and `found` (what other commands have found).
"""

from halo.report.page import render_report

__all__ = ["render_report"]
