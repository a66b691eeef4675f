"""`halo colours`: whether page colours can confine objects on this machine."""

from __future__ import annotations

import argparse

from halo.commands.shared.options import add_json_option
from halo.errors import UsageError
from halo.settings import Settings


class ColoursCommand:
    name = "colours"
    summary = "Test whether the colours of page frames matter for the caches of this machine."
    usage = "halo colours --test [--json FILE]"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--test",
            action="store_true",
            help="compare loads from pages of one colour and of all colours (needs root)",
        )
        add_json_option(parser, "the times")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.colours.machine_test import describe, measure_colours, verdict
        from halo.files.atomic import write_json
        from halo.files.destination import check_place

        if rest:
            raise UsageError("`halo colours` takes no program; leave out the `--`.")
        if not options.test:
            raise UsageError("`halo colours` needs --test.")
        if options.json is not None:
            check_place(options.json)
        document = measure_colours(settings)
        if options.json is not None:
            write_json(document, options.json)
        for level in document.levels:
            print(describe(level))
        print(verdict(document))
        return 0
