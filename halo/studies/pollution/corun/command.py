"""`halo study corun`: several programs on one simulated last-level cache."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import BadInput, UsageError
from halo.base.settings import Settings
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import (
    add_engine_option,
    add_json_option,
    add_machine_option,
    machine_of,
)
from halo.cli.shared.study import Studied, Study
from halo.record.registry import find_producer

if TYPE_CHECKING:
    from halo.studies.pollution.corun.members import Member, PlannedMix

CLASSES = ("open", "exact", "online", "predicted", "learnt", "confined", "selected", "random")
DEFAULT_SEEDS = 10
DEFAULT_CLASSES = ("online",)


class CorunCommand(Study):
    name = "corun"
    summary = "Simulate programs that share a last-level cache, with polluting objects confined."
    usage = (
        "halo study corun [OPTIONS] -- PROG ARGS -- PROG ARGS"
        " | halo study corun [OPTIONS] --mixes FILE [NAME]"
    )
    examples = ("halo study corun --alone --machine e7420-prefetching -- jq . small.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "names",
            nargs="*",
            metavar="NAME",
            help="only these mixes of --mixes; with --alone, only these programs",
        )
        parser.add_argument(
            "--mixes", type=Path, metavar="FILE", help="file of programs and mixes, in TOML"
        )
        parser.add_argument(
            "--alone",
            action="store_true",
            help="run each program by itself only: how it suffers if all its objects are confined,"
            " and what it gains with the --classes that are given",
        )
        parser.add_argument(
            "--restrict",
            type=_colours,
            metavar="FIRST-LAST",
            default="all",
            help="colours of the last level for confined objects, or `all`: the first eighth of"
            " them, which is the default",
        )
        parser.add_argument(
            "--classes",
            action="append",
            choices=CLASSES,
            metavar="NAME",
            help="which objects are confined: " + ", ".join(CLASSES) + "; repeatable (default:"
            " online)",
        )
        parser.add_argument(
            "--seeds",
            type=positive,
            default=DEFAULT_SEEDS,
            metavar="N",
            help="number of random page maps of each mix (default %(default)s)",
        )
        parser.add_argument(
            "--limit",
            type=positive,
            metavar="N",
            help="cut each program after N accesses, for programs that do not end by themselves",
        )
        parser.add_argument(
            "--streams",
            type=Path,
            metavar="DIR",
            help="keep the programs' requests in this folder, and use those that are there",
        )
        add_machine_option(parser)
        add_json_option(parser)
        add_engine_option(parser, "the programs")

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.record.parts import workspace
        from halo.studies.pollution.corun.mix_runner import MixRunner, Plan
        from halo.studies.pollution.corun.streams import StreamMaker, WatchTimes
        from halo.studies.pollution.corun.table import show_corun
        from halo.studies.pollution.corun.tools import Tools

        members, mixes = _chosen(settings, options, rest)
        machine = machine_of(options)
        with ExitStack() as stack:
            folder = stack.enter_context(workspace())
            tools = Tools(settings, machine, options.restrict, folder)
            tools.check()
            engine = find_producer(settings, options.engine, everything=True)
            streams = _folder(options.streams) or folder
            maker = StreamMaker(settings, engine, tools, WatchTimes(), streams)
            plan = Plan(
                str(options.machine or "this machine"),
                tuple(members),
                tuple(mixes),
                tuple(options.classes or DEFAULT_CLASSES),
                options.seeds,
            )
            document = MixRunner(tools, maker).run(plan)
        return Studied(lambda: show_corun(document), lambda: document)


def _chosen(
    settings: Settings, options: argparse.Namespace, rest: list[str]
) -> tuple[list[Member], list[PlannedMix]]:
    """The programs, and the mixes of them. With --alone each is one, if classes are given."""
    from halo.studies.pollution.corun.members import (
        PlannedMix,
        check_together,
        members_of,
        split_programs,
    )

    if options.mixes is not None:
        if rest or options.limit:
            raise UsageError("--mixes has the programs and their limits; leave out -- and --limit.")
        return _from_file(settings, options)
    if options.names:
        raise UsageError(
            "Names are those of mixes, which need --mixes FILE; programs come after `--`."
        )
    if not rest:
        raise UsageError(
            "The programs are missing: write halo study corun [OPTIONS] -- PROG ARGS -- PROG"
            " ARGS, or"
            " give a file with --mixes."
        )
    members = members_of(settings, split_programs(rest), options.limit or 0)
    if options.alone:
        return members, _each_alone(members) if options.classes else []
    check_together(len(members))
    roles = ("",) * len(members)
    return members, [PlannedMix("given", "given", tuple(members), roles)]


def _from_file(
    settings: Settings, options: argparse.Namespace
) -> tuple[list[Member], list[PlannedMix]]:
    from halo.studies.pollution.corun.mixes_file import MixesFile

    file = MixesFile(options.mixes, settings)
    if options.alone:
        alone = [file.member(name) for name in options.names or file.names()]
        if not alone:
            raise BadInput(f"The file {options.mixes} has no programs; docs/corun.md shows one.")
        return alone, _each_alone(alone) if options.classes else []
    mixes = file.mixes(tuple(options.names))
    members = {member.name: member for mix in mixes for member in mix.members}
    return list(members.values()), mixes


def _each_alone(members: Sequence[Member]) -> list[PlannedMix]:
    from halo.studies.pollution.corun.members import PlannedMix

    return [PlannedMix(member.name, "alone", (member,), ("",)) for member in members]


def _folder(path: Path | None) -> Path | None:
    """The folder of --streams, which is made; `BadInput` if it cannot be."""
    if path is None:
        return None
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be made: {error.strerror or error}.") from error
    return path


def _colours(text: str) -> str:
    """FIRST-LAST, or nothing for the default."""
    if text == "all":
        return ""
    if not re.fullmatch(r"\d{1,9}-\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not two colours, such as 0-31, or all")
    return text
