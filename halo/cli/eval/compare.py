"""`halo study eval compare`: the paper's evaluation, of any programs and strategies."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.measuring_options import (
    DEFAULT_TRIALS,
    add_cpu_option,
    add_stdin_option,
    add_tolerance_options,
    check_cpu,
)
from halo.cli.shared.numbers import positive
from halo.cli.shared.program import check_runtime, input_file, two_programs


class CompareCommand:
    name = "compare"
    summary = "Compare strategies, timed and simulated, as the HALO paper does."
    usage = (
        "halo study eval compare [OPTIONS] NAME... | --all | -- PROG TRAIN-ARGS -- PROG REF-ARGS"
    )
    examples = ("halo study eval compare --distance 32,128,512 hospital jq",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="bundled programs to measure")
        parser.add_argument(
            "--all", action="store_true", help="all bundled programs, without variants"
        )
        parser.add_argument(
            "--results",
            type=Path,
            default=Path("results/evaluation"),
            metavar="DIR",
            help="folder with one results folder for each program; finished stages in it are not"
            " repeated (default %(default)s)",
        )
        parser.add_argument(
            "--trials",
            type=positive,
            default=DEFAULT_TRIALS - 1,
            metavar="N",
            help="number of recorded rounds, after a warm-up round (default %(default)s, as in the"
            " HALO paper)",
        )
        parser.add_argument(
            "--distance",
            "--distances",
            type=_distances,
            default=(),
            metavar="A,B",
            help="affinity distances in bytes, each recorded and timed with the strategy halo",
        )
        parser.add_argument(
            "--no-simulation", action="store_true", help="simulate no caches and TLBs"
        )
        add_cpu_option(parser)
        add_stdin_option(parser)
        add_tolerance_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.cli.shared.evaluation import bundled_subjects, evaluate, own_subject
        from halo.record.registry import find_producer

        check_cpu(options.cpu)
        check_runtime(settings)
        find_producer(settings)
        if rest and (options.names or options.all):
            raise UsageError("Give names of bundled programs or a program after `--`, not both.")
        if rest:
            name, train, reference = two_programs(rest)
            stdin = input_file(options.stdin)
            return evaluate(
                settings, options, [own_subject(settings, name, train, reference, stdin)]
            )
        return evaluate(settings, options, bundled_subjects(settings, options.names, options.all))


def _distances(text: str) -> tuple[int, ...]:
    return tuple(sorted({positive(word.strip()) for word in text.split(",")}))
