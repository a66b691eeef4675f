"""`halo study conflicts`: which objects of a profile compete for sets of the first cache."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import UsageError
from halo.base.settings import Settings
from halo.cli.shared.in_results import profile_argument
from halo.cli.shared.numbers import natural
from halo.cli.shared.options import add_json_option
from halo.cli.shared.study import Studied, Study

if TYPE_CHECKING:
    from halo.record.profile import Conflicts, Profile


class ConflictsCommand(Study):
    name = "conflicts"
    summary = "Show which objects compete for the same sets of the first cache."
    usage = "halo study conflicts [OPTIONS] PROFILE"
    takes = "a profile"
    outputs = ("json", "dot", "picture")
    examples = (
        "halo record --conflicts -o jq.profile -- jq . small.json",
        "halo study conflicts jq.profile",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "profile",
            type=profile_argument,
            metavar="PROFILE",
            help="profile recorded by `halo record --conflicts`",
        )
        parser.add_argument(
            "--rows",
            type=natural,
            default=10,
            metavar="N",
            help="number of states and of pairs to print (default %(default)s)",
        )
        add_json_option(parser, "all states and pairs")
        parser.add_argument(
            "--dot",
            type=Path,
            metavar="FILE",
            help="write the graph of states and their conflict misses to FILE, for Graphviz",
        )
        parser.add_argument(
            "--picture",
            type=Path,
            metavar="FILE",
            help="draw the slots of the cache that conflicting states use, in the format of FILE's"
            " ending: svg, png or pdf",
        )

    def study(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> Studied:
        from halo.record.profile import read_profile
        from halo.studies.conflicts.ranking import conflicts_of
        from halo.studies.conflicts.results import conflicts_document
        from halo.studies.conflicts.table import show_conflicts

        if options.picture is not None:
            check_format(options.picture)
        profile = read_profile(options.profile)
        conflicts = conflicts_of(profile, options.profile)
        if options.dot is not None:
            write_graph(profile, conflicts, options.dot)
        if options.picture is not None:
            write_picture(profile, conflicts, options.picture)
        return Studied(
            lambda: show_conflicts(profile, conflicts, options.profile, options.rows),
            lambda: conflicts_document(profile, conflicts),
        )


def check_format(picture: Path) -> None:
    """Refuses a picture in an unknown format."""
    from halo.report.figures.base import IMAGES

    if ending_of(picture) not in IMAGES:
        raise UsageError(
            f"The picture cannot be written as '{picture.name}'; end the name in"
            f" {', '.join(f'.{known}' for known in IMAGES)}."
        )


def write_graph(profile: Profile, conflicts: Conflicts, path: Path) -> None:
    from halo.base.files.atomic import write_atomically
    from halo.studies.conflicts.figures.graph import conflict_graph, conflict_states
    from halo.studies.conflicts.names import name_states

    names = name_states(profile, conflicts, conflict_states(conflicts))
    write_atomically(path, conflict_graph(profile.program, conflicts, names))


def write_picture(profile: Profile, conflicts: Conflicts, path: Path) -> None:
    from halo.base.files.atomic import write_atomically
    from halo.studies.conflicts.figures.slots import draw_slots, drawn_states
    from halo.studies.conflicts.names import name_states

    names = name_states(profile, conflicts, drawn_states(conflicts))
    write_atomically(path, draw_slots(conflicts, names, ending_of(path)))


def ending_of(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()
