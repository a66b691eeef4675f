"""`halo sharing`: which variables threads share, truly or by lying in one cache line."""

from __future__ import annotations

import argparse

from halo.commands.analysing import COMMON, add_common, add_trace, analyse, check_no_program
from halo.settings import Settings


class SharingCommand:
    name = "sharing"
    summary = "Name the variables and cache lines that threads share, truly or falsely."
    usage = f"halo sharing TRACE {COMMON}"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.analyses import find_analysis

        check_no_program(self.name, rest)
        return analyse(settings, options, find_analysis(self.name), {})
