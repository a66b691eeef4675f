"""`halo study trace offenders`: which variables and lines miss the caches, and at what cost."""

from __future__ import annotations

import argparse

from halo.base.settings import Settings
from halo.studies.tracing.analysis_options import add_common, add_trace, analyse, check_no_program

COMMAND = "trace offenders"


class OffendersCommand:
    name = "offenders"
    summary = "List the variables and source lines with the most expensive cache misses."
    usage = "halo study trace offenders [OPTIONS] TRACE..."
    examples = ("halo study trace offenders --by line --function 'parse_*' prog.columns",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        parser.add_argument(
            "--by",
            choices=("variable", "line", "function"),
            default="variable",
            help="subject of a row (default %(default)s)",
        )
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.studies.tracing.analyses import find_analysis

        check_no_program(COMMAND, rest)
        return analyse(settings, options, find_analysis("offenders"), {"by": options.by})
