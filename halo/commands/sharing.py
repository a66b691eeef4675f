"""`halo sharing`: which variables threads share, truly or by lying in one cache line."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.commands.analysing import COMMON, add_common, analyse
from halo.errors import UsageError
from halo.settings import Settings


class SharingCommand:
    name = "sharing"
    summary = "Name the variables and cache lines that threads share, truly or falsely."
    usage = f"halo sharing TRACE {COMMON}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "trace",
            type=Path,
            nargs="+",
            metavar="TRACE",
            help="traces, or what `halo columns` made of them",
        )
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.analyses import find_analysis

        if rest:
            raise UsageError("`halo sharing` takes a trace and no program; leave out the `--`.")
        return analyse(settings, options, find_analysis(self.name), {})
