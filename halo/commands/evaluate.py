"""`halo evaluate`: the paper's evaluation, strategies against each other, of any programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.commands.program import (
    DEFAULT_TRIALS,
    add_tolerance_options,
    check_cpu,
    check_runtime,
    input_file,
    natural,
    positive,
    two_programs,
)
from halo.errors import UsageError
from halo.settings import Settings


class EvaluateCommand:
    name = "evaluate"
    summary = "Set strategies against each other, timed and simulated, as the HALO paper does."
    usage = "halo evaluate [OPTIONS] NAME [NAME ...] | --all | -- PROG TRAIN-ARGS -- PROG REF-ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME")
        parser.add_argument("--all", action="store_true", help="all bundled programs but variants")
        parser.add_argument(
            "--results",
            type=Path,
            default=Path("results/evaluation"),
            metavar="DIR",
            help="each program gets a folder in it; what is finished there is not measured again"
            " (default: %(default)s)",
        )
        parser.add_argument(
            "--trials",
            type=positive,
            default=DEFAULT_TRIALS - 1,
            metavar="N",
            help="recorded rounds, after one that is dropped (default: %(default)s, the paper's)",
        )
        parser.add_argument(
            "--distances",
            type=_distances,
            default=(),
            metavar="A,B",
            help="also measure the strategy `halo` at these affinity distances, in bytes",
        )
        parser.add_argument(
            "--no-simulation", action="store_true", help="do not simulate caches and TLBs"
        )
        parser.add_argument(
            "--cpu", type=natural, metavar="N", help="run the trials on processor N only"
        )
        parser.add_argument(
            "--stdin", type=Path, metavar="FILE", help="standard input of every run"
        )
        add_tolerance_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.commands.evaluating import bundled_subjects, evaluate, own_subject
        from halo.producers.registry import find_producer

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
