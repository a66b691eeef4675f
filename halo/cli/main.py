"""The command line: splits it at the first `--`, parses halo's part, calls the command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from halo.base.console.outcome import status_of
from halo.base.console.parser import Parser, did_you_mean
from halo.base.console.streams import prepare_streams
from halo.base.files.standard_output import STANDARD_OUTPUT, reserve_standard_output
from halo.base.settings import Settings, read_settings, set_default
from halo.base.version import version_text
from halo.cli.old_spellings import MOVED, REPLACED, current
from halo.cli.overview import CLOSING, PURPOSE, USAGE, OverviewParser, summary_of
from halo.cli.registry import ALL, TRACE, Command, CommandGroup, every_command

HELP = "help"
NUMPY_THREADS = "OPENBLAS_NUM_THREADS"


class _Version(argparse.Action):
    """Unlike argparse's own, finds out the version only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        parser._print_message(f"{version_text()}\n", sys.stdout)
        parser.exit()


def build_parser(words: Sequence[str]) -> Parser:
    """The parser of `words`, the arguments before the first `--`.

    It has only the options of commands among the words, so that other modules are not loaded.
    """
    parser = OverviewParser(prog="halo", usage=USAGE, description=PURPOSE, epilog=CLOSING)
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and the commit, and exit"
    )
    commands = parser.add_commands("command")
    for member in ALL:
        _add(commands, member, words)
    return parser


def _add(commands: Any, member: Command | CommandGroup, words: Sequence[str]) -> None:
    if isinstance(member, CommandGroup):
        _add_group(commands, member, words)
    else:
        _add_command(commands, member, words)


def _add_group(commands: Any, group: CommandGroup, words: Sequence[str]) -> None:
    parser = commands.add_parser(group.name, help=summary_of(group), description=group.summary)
    parser.epilog = f"Help for a command: {parser.prog} COMMAND --help"
    inner = parser.add_commands(group.name)
    for member in group.commands:
        _add(inner, member, words)


def _add_command(commands: Any, command: Command, words: Sequence[str]) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.summary,
        usage=command.usage,
        epilog="\n".join(["For instance:", *(f"  {example}" for example in command.examples)]),
    )
    if command.name in words:
        command.add_arguments(parser)
    parser.set_defaults(implementation=command)


def find_parser(parser: Parser, words: Sequence[str]) -> tuple[Parser, Sequence[str]]:
    """The parser of the command that the words begin with, and the words behind its name.

    Raises `UsageError` if there is no such command, with the nearest ones.
    """
    while parser.children and words and not words[0].startswith("-"):
        if words[0] not in parser.children:
            near = did_you_mean(words[0], _spellings(parser))
            listed = f"; the commands are: {', '.join(parser.children)}"
            parser.error(f"'{words[0]}' is not a command of {parser.prog}{near or listed}")
        parser, words = parser.children[words[0]], words[1:]
    return parser, words


def _spellings(parser: Parser) -> dict[str, str]:
    """The commands by what may be typed for them: their names, and at the top their last words."""
    names = {name: name for name in parser.children}
    if parser.prog != "halo":
        return names
    moved = {name: " ".join(words) for name, words in MOVED.items()}
    last_words = {words.split()[-1]: words for words, _ in every_command()}
    return {**moved, **last_words, **names, HELP: HELP}


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """halo's own arguments, and those behind the first `--`."""
    words = list(arguments)
    if "--" not in words:
        return words, []
    place = words.index("--")
    return words[:place], words[place + 1 :]


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point of `halo`; returns the exit status (docs/exit-status.md)."""
    words = sys.argv[1:] if arguments is None else arguments
    settings = read_settings()
    prepare_streams(settings.encoding)
    # Before numpy is loaded: the threads it would start take time and compute nothing here.
    # Programs get the environment of these settings, which were read before.
    set_default(NUMPY_THREADS, "1")
    return status_of(
        lambda: _run(settings, *split(words)), settings.debug, settings.package_command
    )


def _run(settings: Settings, own: list[str], rest: list[str]) -> int:
    if own[:1] == [HELP]:
        own = [*(word for word in own if word != HELP), "--help"]
    own = current(own, [command.name for command in TRACE.commands], runs=bool(rest))
    parser = build_parser(own)
    if not own and not rest:
        parser.print_help()
        return 0
    leaf, behind = find_parser(parser, own)
    leaf.check_options(behind, REPLACED.get(own[0], {}) if own else {})
    try:
        options, extra = parser.parse_known_args(own)
    except SystemExit as ended:  # after --help or --version
        return int(ended.code or 0)
    command: Command = options.implementation
    options.words = own
    if extra:
        leaf.error(_unexpected(leaf.prog, command, extra))
    with ExitStack() as stack:
        if getattr(options, "json", None) == STANDARD_OUTPUT:
            stack.enter_context(reserve_standard_output())
        return command.run(settings, options, rest)


def _unexpected(prog: str, command: Command, extra: Sequence[str]) -> str:
    if extra[0].startswith("-"):
        return f"{extra[0]} is not an option of {prog}"
    hint = " (a program to run goes after `--`)" if "-- PROG" in command.usage else ""
    return f"unexpected argument{'s' * (len(extra) > 1)}: {' '.join(extra)}{hint}"


if __name__ == "__main__":
    sys.exit(main())
