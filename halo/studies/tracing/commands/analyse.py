"""`halo study trace analyse`: any of the analyses of a trace's columns."""

from __future__ import annotations

import argparse

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.studies.tracing.analysis_options import add_common, add_trace, analyse

OWN_COMMANDS = {"split": "halo study trace split TRACE"}
"""Analyses whose rows mean nothing without what their own command makes of them."""


class AnalyseCommand:
    name = "analyse"
    summary = "Run an analysis of a trace by its name."
    usage = "halo study trace analyse [OPTIONS] NAME TRACE... | halo study trace analyse --list"
    examples = (
        "halo study trace analyse --list",
        "halo study trace analyse offenders prog.columns",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "analysis", nargs="?", metavar="NAME", help="name of an analysis (see --list)"
        )
        add_trace(parser, nargs="*")
        parser.add_argument("--list", action="store_true", help="list the analyses")
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.studies.tracing.analyses import ANALYSES, find_analysis

        if options.list:
            for known in ANALYSES:
                pointer = f" ({OWN_COMMANDS[known.name]})" if known.name in OWN_COMMANDS else ""
                print(f"{known.name:12} {known.summary}{pointer}")
            return 0
        if options.analysis in OWN_COMMANDS:
            raise UsageError(f"This analysis has its own command: {OWN_COMMANDS[options.analysis]}")
        if rest or not options.analysis or not options.trace:
            raise UsageError(
                "Say which analysis, and of what: halo study trace analyse NAME TRACE."
            )
        return analyse(settings, options, find_analysis(options.analysis), {})
