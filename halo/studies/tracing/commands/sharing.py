"""`halo study trace sharing`: variables that threads share, truly or by a common cache line."""

from __future__ import annotations

import argparse

from halo.base.settings import Settings
from halo.studies.tracing.analysis_options import add_common, add_trace, analyse, check_no_program

COMMAND = "trace sharing"


class SharingCommand:
    name = "sharing"
    summary = "List the variables and cache lines that threads share, truly or falsely."
    usage = "halo study trace sharing [OPTIONS] TRACE..."
    examples = ("halo study trace sharing --csv sharing.csv prog.columns",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_trace(parser)
        add_common(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.studies.tracing.analyses import find_analysis

        check_no_program(COMMAND, rest)
        return analyse(settings, options, find_analysis("sharing"), {})
