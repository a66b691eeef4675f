"""`halo merge`: one profile of several recordings of one build."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path

from halo.base.errors import BadInput, UsageError
from halo.base.settings import Settings
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.options import add_json_option


class MergeCommand:
    name = "merge"
    summary = "Merge profiles of several inputs or machines of one build, and see if they agree."
    usage = "halo merge [OPTIONS] PROFILE PROFILE... -o PROFILE"
    examples = ("halo merge small.profile large.profile -o both.profile",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "profiles",
            type=profile_argument,
            nargs="+",
            metavar="PROFILE",
            help="profile of one input, written by `halo record`",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="PROFILE",
            help="merged profile to write (default, only with --score: none)",
        )
        parser.add_argument(
            "--weights",
            type=_weights,
            metavar="A,B",
            help="total of accesses of each input in the merged profile, relative to the others"
            " (default: the same for each)",
        )
        parser.add_argument(
            "--score",
            action="store_true",
            help="show how much of each input a plan from the other inputs covers",
        )
        add_json_option(parser, "the inputs and their scores")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.plan.merging.document import merge_document
        from halo.plan.merging.inputs import merge_inputs, read_inputs
        from halo.plan.merging.score import score_inputs
        from halo.plan.merging.table import show_merge
        from halo.record.profile import write_profile

        _check(options, rest)
        for path in (options.output, options.json):
            if path is not None:
                check_place(path)
        inputs = read_inputs(options.profiles, options.weights or [1.0] * len(options.profiles))
        merged = merge_inputs(inputs)
        scores = score_inputs(inputs) if options.score else []
        if options.output is not None:
            write_profile(merged.profile, options.output)
        document = merge_document(inputs, merged, scores, options.output)
        if options.json is not None:
            write_json(document, options.json)
        show_merge(document)
        if options.output is not None:
            step = shlex.join([settings.command, "plan", str(options.output)])
            print(f"\nProfile: {options.output}\nNext: {step}")
        return 0


def _weights(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0 < it < math.inf for it in found):
        raise argparse.ArgumentTypeError(f"'{text}' is not numbers above 0, such as 2,1")
    return found


def _check(options: argparse.Namespace, rest: list[str]) -> None:
    """Refuses what is wrong without reading a profile."""
    if rest:
        raise UsageError("`halo merge` takes profiles and no program; leave out the `--`.")
    count = len(options.profiles)
    if count < 2:
        raise UsageError("`halo merge` needs two profiles at least, this is one; give another.")
    if options.weights is not None and len(options.weights) != count:
        raise UsageError(
            f"There are {count} profiles and {len(options.weights)} weights; give one for each."
        )
    if options.output is None and not options.score:
        raise UsageError("Nothing would be written; give -o PROFILE, or --score.")
    outputs = [path.resolve() for path in (options.output, options.json) if path is not None]
    if len(set(outputs)) < len(outputs):
        raise UsageError("-o and --json name the same file; give another to one of them.")
    for path in options.profiles:
        if path.resolve() in outputs:
            raise BadInput(f"{path} is an input and would be overwritten; give another output.")
