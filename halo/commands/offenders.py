"""`halo offenders`: which variables and lines miss the caches, and at what cost."""

from __future__ import annotations

import argparse

from halo.commands.analysing import COMMON, add_common, add_trace, analyse, check_no_program
from halo.settings import Settings


class OffendersCommand:
    name = "offenders"
    summary = "Name the variables and source lines whose cache misses cost most, and what helps."
    usage = f"halo offenders TRACE [--by variable|line|function] {COMMON}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        parser.add_argument(
            "--by",
            choices=("variable", "line", "function"),
            default="variable",
            help="what a row is (default: %(default)s)",
        )
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.analyses import find_analysis

        check_no_program(self.name, rest)
        return analyse(settings, options, find_analysis(self.name), {"by": options.by})
