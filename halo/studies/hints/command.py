"""`halo study hints`: which values of fields predict with what an object is used."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.numbers import up_to
from halo.cli.shared.options import add_json_option
from halo.cli.shared.study import Studied, Study

MAX_LEVEL = 64
MAX_SEED = 2**31 - 1


class HintsCommand(Study):
    name = "hints"
    summary = "Find field values that tell an allocator which objects are used together."
    usage = "halo study hints [OPTIONS] TRACE"
    takes = "a stored trace"
    outputs = ("json", "output")
    examples = ("halo study hints --phase traverse prog.trace",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "trace", type=Path, metavar="TRACE", help="trace of a program built with halo-cc -g"
        )
        parser.add_argument(
            "--type",
            default="*",
            metavar="GLOB",
            help="only objects of these types (default: all)",
        )
        parser.add_argument(
            "--level",
            type=up_to(MAX_LEVEL),
            metavar="N",
            help="predict the communities of this level, 1 for the finest (default: the level"
            " with the least error)",
        )
        parser.add_argument(
            "--phase",
            default="",
            metavar="FUNCTION",
            help="also predict the misses from the first entry into FUNCTION to the last exit",
        )
        parser.add_argument(
            "--seed",
            type=int,
            default=0,
            metavar="N",
            help="of samples, forests and permutations (default %(default)s)",
        )
        parser.add_argument(
            "--deep", action="store_true", help="also follow pointers of neighbours"
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE.hints",
            help="write the hints to FILE.hints, for: halo-cc --halo-hints=FILE.hints",
        )
        add_json_option(parser)

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.record.parts import workspace
        from halo.studies.hints.forest import check_learner
        from halo.studies.hints.hints_file import write_hints
        from halo.studies.hints.run import HintOptions, find_hints, prepare
        from halo.studies.hints.table import show_hints

        if not 0 <= options.seed <= MAX_SEED:
            raise UsageError(f"--seed is a number from 0 to {MAX_SEED}.")
        check_learner()
        wanted = HintOptions(
            options.type, options.level or 0, options.seed, 2 if options.deep else 1
        )
        with workspace() as folder:
            prepared = prepare(settings, options.trace, folder, options.phase)
            found = find_hints(settings, prepared, wanted, folder, _tell)
        written = options.output is None or write_hints(found.types, options.output)

        def show() -> None:
            show_hints(found)
            if not written:
                print(
                    "No type has a hint that a compiler can pass, so"
                    f" {options.output} is not written."
                )

        return Studied(show, lambda: found)


def _tell(kind: str) -> None:
    if sys.stderr.isatty():
        print(f"halo: {kind}", file=sys.stderr)
