"""`halo study eval coverage`: which states of a training run recur in a reference run."""

from __future__ import annotations

import argparse

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.options import add_json_option


class CoverageCommand:
    name = "coverage"
    summary = "Compare ways to recognise a training run's allocations in a reference run."
    usage = "halo study eval coverage [OPTIONS] TRAIN.profile REF.profile"
    examples = ("halo study eval coverage small.profile large.profile",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "training",
            type=profile_argument,
            metavar="TRAIN.profile",
            help="profile of the training run",
        )
        parser.add_argument(
            "reference",
            type=profile_argument,
            metavar="REF.profile",
            help="profile of the reference run",
        )
        add_json_option(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.record.profile import read_profile
        from halo.studies.conflicts.coverage import check_same_program
        from halo.studies.conflicts.results import coverage_document
        from halo.studies.conflicts.table import show_coverage

        if rest:
            raise UsageError(
                "`halo study eval coverage` takes two profiles and no program; leave out the `--`."
            )
        if options.json is not None:
            check_place(options.json)
        training, reference = read_profile(options.training), read_profile(options.reference)
        check_same_program(training, reference, (options.training, options.reference))
        document = coverage_document(training, reference)
        if options.json is not None:
            write_json(document, options.json)
        show_coverage(document)
        return 0
