"""Options that several commands have: machine, engine, sinks, allocator, file of the result."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.cli.shared.numbers import up_to
from halo.record.registry import EXACT_ENGINES
from halo.record.sink_options import SinkOption


def add_machine_option(parser: argparse.ArgumentParser) -> None:
    """The option of all that simulate a chosen machine."""
    parser.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        help="machine file with the caches and TLBs to simulate, or the name of one in halo, such"
        " as x86-48k-12 (default: this machine's)",
    )


def machine_of(options: argparse.Namespace) -> str:
    """The recorder's form of the machine of `add_machine_option`; empty: this machine."""
    from halo.record.simulation import machine_text

    return machine_text(options.machine) if options.machine else ""


def add_engine_option(parser: argparse.ArgumentParser, runs: str = "the program") -> None:
    """The option of all that record accesses and keep no profile."""
    names = [engine.name for engine in EXACT_ENGINES]
    parser.add_argument(
        "--engine",
        choices=names,
        metavar="NAME",
        help=f"engine that runs {runs}: {', '.join(names)} (default: {names[0]})",
    )


def add_json_option(parser: argparse.ArgumentParser, content: str = "the whole result") -> None:
    """The option of all that write a JSON document; `cli` treats `-`."""
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help=f"write {content} to FILE; - for standard output, with all else on standard error",
    )


def add_allocator_option(
    parser: argparse.ArgumentParser, role: str, default: str = "glibc", of_plan: bool = False
) -> None:
    """The option of all that run a program once under a chosen allocator.

    With `of_plan`, it is None by default: that of the plan.
    """
    parser.add_argument(
        "--allocator",
        default=None if of_plan else default,
        metavar="NAME",
        help=f"{role}: glibc, jemalloc, mimalloc, tcmalloc or the path of a library (default"
        f"{': the one that the plan was kept over, or' if of_plan else ''} {default})",
    )


def add_sink_option(parser: argparse.ArgumentParser, option: SinkOption) -> None:
    if option.file:
        parser.add_argument(
            option.flag,
            dest=option.name,
            action="store_const",
            const=1,
            default=option.default,
            help=option.help,
        )
        return
    parser.add_argument(
        option.flag,
        dest=option.name,
        type=_machine_name if option.machine else up_to(option.maximum),
        nargs=None if option.bare is None else "?",
        const=option.bare,
        default=None if option.machine else option.default,
        metavar=option.metavar,
        help=option.help,
    )


def _machine_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a machine has a name, this one is empty")
    return text
