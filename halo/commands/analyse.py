"""`halo analyse`: any of the analyses of a trace's columns."""

from __future__ import annotations

import argparse

from halo.commands.analysing import COMMON, add_common, add_trace, analyse
from halo.errors import UsageError
from halo.settings import Settings


class AnalyseCommand:
    name = "analyse"
    summary = "Run an analysis of a type-aware trace, in DuckDB or in Spark."
    usage = f"halo analyse NAME TRACE {COMMON}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("analysis", nargs="?", metavar="NAME", help="see --list")
        add_trace(parser, nargs="*")
        parser.add_argument("--list", action="store_true", help="list the analyses")
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.analyses import ANALYSES, find_analysis

        if options.list:
            for known in ANALYSES:
                print(f"{known.name:12} {known.summary}")
            return 0
        if rest or not options.analysis or not options.trace:
            raise UsageError("Say which analysis, and of what: halo analyse NAME TRACE.")
        return analyse(settings, options, find_analysis(options.analysis), {})
