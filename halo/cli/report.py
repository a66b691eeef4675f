"""`halo report`: writes one page about results."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings


class ReportCommand:
    name = "report"
    summary = "Write one self-contained HTML page about results."
    usage = "halo report [OPTIONS] RESULT..."
    examples = ("halo report -o page.html results/jq-20250101-120000 offenders.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "results",
            type=Path,
            nargs="+",
            metavar="RESULT",
            help="results folder, its results.json, or the JSON of a trace analysis, `halo study"
            " layout`,"
            " `halo study hints` or `halo study eval predict`",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            default=Path("report.html"),
            metavar="PAGE",
            help="page to write (default %(default)s in the current folder)",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_atomically
        from halo.base.files.destination import check_place
        from halo.report import render_report
        from halo.report.documents import reader_of, refuse_unshown
        from halo.report.results import read_measurements

        if rest:
            raise UsageError("`halo report` takes results and no program; leave out the `--`.")
        check_place(options.output)
        readers = [(path, reader_of(path)) for path in options.results]
        measured = [path for path, reader in readers if reader is None]
        for path in measured:
            refuse_unshown(path, settings.command)
        page = render_report(
            read_measurements(measured) if measured else [],
            [reader(path) for path, reader in readers if reader is not None],
        )
        write_atomically(options.output, page.encode("utf-8", "replace"))
        print(f"Report: {options.output}")
        return 0
