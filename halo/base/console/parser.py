"""Argument parsers whose errors are sentences, with the nearest known word for a misspelt one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NoReturn

from halo.base.errors import UsageError

MAX_NEAR = 2  # words that are offered for a misspelt one


class HelpFormatter(argparse.HelpFormatter):
    """Wraps paragraphs, and keeps indented lines, such as commands to copy."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled = [
            line if line.startswith(" ") else super(HelpFormatter, self)._fill_text(line, width, "")
            for line in text.splitlines()
        ]
        return "\n".join(indent + line for line in filled)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with a documented exit status."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(
            *arguments, **{"formatter_class": HelpFormatter, "allow_abbrev": False, **options}
        )
        self.children: Mapping[str, Parser] = {}
        self.entries: Sequence[argparse.Action] = ()

    def add_commands(self, dest: str) -> Any:
        """The action that parsers of commands are added to; they are `children`.

        `entries` are their lines in the help.
        """
        action = self.add_subparsers(
            dest=dest, metavar="COMMAND", required=True, prog=self.prog, parser_class=Parser
        )
        self.children = action.choices
        self.entries = action._choices_actions
        return action

    def error(self, message: str) -> NoReturn:
        text = f"{message[:1].upper()}{message[1:]}"
        raise UsageError(f"{text}{' See' if text.endswith('?') else '; see'}: {self.prog} --help")

    def check_options(
        self, words: Iterable[str], replaced: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Raises `UsageError` for the first unknown option of that form: --NAME.

        `replaced` are options that it had, with what to write instead.
        """
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for word in words:
            name = word.partition("=")[0]
            if name.startswith("--") and " " not in name and name not in known:
                hint = did_you_mean(name, {option: option for option in known} | dict(replaced))
                self.error(f"{name} is not an option of {self.prog}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Like argparse's, but offers the nearest of several choices in place of all."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        name = "/".join(action.option_strings) or action.metavar or action.dest
        hint = did_you_mean(str(value), {choice: choice for choice in choices})
        self.error(
            f"argument {name}: invalid choice: {value!r}"
            f"{hint or ' (choose from ' + ', '.join(choices) + ')'}"
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse's own, lets errors of the stream pass: its reader may have gone."""
        if message:
            (file or sys.stderr).write(message)


def did_you_mean(word: str, known: Mapping[str, str]) -> str:
    """`; did you mean A or B?` with the values of the nearest keys; empty if none is near."""
    near = [word] if word in known else get_close_matches(word, list(known), n=MAX_NEAR)
    values = list(dict.fromkeys(known[name] for name in near))
    return f"; did you mean {' or '.join(values)}?" if values else ""
