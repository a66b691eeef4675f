"""The command line: splits it at the first `--`, parses halo's part, calls the command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from halo.commands import COMMANDS, GROUPS, TRACE, Command
from halo.commands.old_spellings import current
from halo.console.outcome import status_of
from halo.errors import UsageError
from halo.settings import Settings, read_settings
from halo.version import version_text


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with a documented exit status."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see: {self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse's own, lets errors of the stream pass: its reader may have gone."""
        if message:
            (file or sys.stderr).write(message)


class _Version(argparse.Action):
    """Unlike argparse's own, finds out the version only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        parser._print_message(f"{version_text()}\n", sys.stdout)
        parser.exit()


def build_parser(words: Sequence[str]) -> Parser:
    """The parser of `words`, the arguments before the first `--`.

    It has only the options of commands among the words, so that other modules are not loaded.
    """
    parser = Parser(
        prog="halo",
        description="Makes native Linux programs faster by placing heap objects from evidence.",
        epilog="Help for a command: halo COMMAND --help. Reference: docs/cli.md",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and the commit, and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        _add(commands, command, words)
    for group in GROUPS:
        names = ", ".join(command.name for command in group.commands)
        sub = commands.add_parser(
            group.name,
            help=f"{group.summary.rstrip('.')}: {names}.",
            description=group.summary,
            epilog=f"Help for a command: halo {group.name} COMMAND --help",
            allow_abbrev=False,
        )
        inner = sub.add_subparsers(dest="inner", metavar="COMMAND", required=True)
        for command in group.commands:
            _add(inner, command, words)
    return parser


def _add(commands: Any, command: Command, words: Sequence[str]) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.summary,
        usage=command.usage,
        allow_abbrev=False,
    )
    if command.name in words:
        command.add_arguments(parser)
    parser.set_defaults(implementation=command)


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
    return status_of(lambda: _run(settings, *split(words)), settings.debug)


def _run(settings: Settings, own: list[str], rest: list[str]) -> int:
    own = current(own, [command.name for command in TRACE.commands], runs=bool(rest))
    parser = build_parser(own)
    if not own and not rest:
        parser.print_help()
        return 0
    try:
        options = parser.parse_args(own)
    except UsageError as error:
        if str(error).startswith("Unrecognized arguments") and not rest:
            raise UsageError(f"{error} (a program to run goes after `--`)") from error
        raise
    except SystemExit as ended:  # after --help or --version
        return int(ended.code or 0)
    command: Command = options.implementation
    return command.run(settings, options, rest)


if __name__ == "__main__":
    sys.exit(main())
