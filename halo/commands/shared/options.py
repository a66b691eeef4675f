"""Options that several commands have: the machine, the engine, the file of the result."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.recording.registry import ENGINES


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
    from halo.simulation import machine_text

    return machine_text(options.machine) if options.machine else ""


def add_engine_option(parser: argparse.ArgumentParser, runs: str = "the program") -> None:
    """The option of all that record accesses and keep no profile."""
    names = [engine.name for engine in ENGINES]
    parser.add_argument(
        "--engine",
        choices=names,
        metavar="NAME",
        help=f"engine that runs {runs}: {', '.join(names)} (default: the first that works here)",
    )


def add_json_option(parser: argparse.ArgumentParser, content: str = "the whole result") -> None:
    """The option of all that write a JSON document; `cli` treats `-`."""
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help=f"write {content} to FILE; - for standard output, with all else on standard error",
    )
