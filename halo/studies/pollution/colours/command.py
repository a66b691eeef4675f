"""`halo study colours`: whether page colours can confine objects here, and whether they do."""

from __future__ import annotations

import argparse

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import add_json_option


class ColoursCommand:
    name = "colours"
    summary = "Test whether the colours of page frames matter on this machine, or check a process."
    usage = "halo study colours --test [--json FILE] | halo study colours --audit PID"
    examples = ("halo study colours --test",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--test",
            action="store_true",
            help="compare loads from pages of one colour and of all colours (needs root)",
        )
        parser.add_argument(
            "--audit",
            type=positive,
            metavar="PID",
            help="count the confined pages of a process of `halo exec --watch --colours` that have"
            " frames of these colours (needs root)",
        )
        add_json_option(parser, "the times of --test")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        if rest:
            raise UsageError("`halo study colours` takes no program; leave out the `--`.")
        if options.test == (options.audit is not None):
            raise UsageError("`halo study colours` needs either --test or --audit PID.")
        if options.test:
            return _test(settings, options)
        if options.json is not None:
            raise UsageError("`halo study colours --json` needs --test.")
        return _audit(options.audit)


def _test(settings: Settings, options: argparse.Namespace) -> int:
    from halo.base.files.atomic import write_json
    from halo.base.files.destination import check_place
    from halo.studies.pollution.colours.machine_test import describe, measure_colours, verdict

    if options.json is not None:
        check_place(options.json)
    document = measure_colours(settings)
    if options.json is not None:
        write_json(document, options.json)
    for level in document.levels:
        print(describe(level))
    print(verdict(document))
    return 0


def _audit(process: int) -> int:
    from halo.studies.pollution.colours.audit import audit, describe_audit
    from halo.studies.pollution.colours.board import read_board

    board = read_board(process)
    found = audit(process, board)
    print(describe_audit(found, board))
    return 0 if found.is_confined else 1
