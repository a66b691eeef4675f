"""`halo study eval coverage`: which states of a training run recur in a reference run."""

from __future__ import annotations

import argparse

from halo.base.settings import Settings
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.options import add_json_option
from halo.cli.shared.study import Studied, Study


class CoverageCommand(Study):
    name = "coverage"
    summary = "Compare ways to recognise a training run's allocations in a reference run."
    usage = "halo study eval coverage [OPTIONS] TRAIN.profile REF.profile"
    takes = "two profiles"
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

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.record.profile import read_profile
        from halo.studies.conflicts.coverage import check_same_program
        from halo.studies.conflicts.results import coverage_document
        from halo.studies.conflicts.table import show_coverage

        training, reference = read_profile(options.training), read_profile(options.reference)
        check_same_program(training, reference, (options.training, options.reference))
        document = coverage_document(training, reference)
        return Studied(lambda: show_coverage(document), lambda: document)
