"""An option that prints a list of names and ends the command, as --help does."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any


class ListAction(argparse.Action):
    """`lines` returns the list; it is called only if the option is given."""

    def __init__(
        self,
        option_strings: list[str],
        dest: str,
        lines: Callable[[], Iterable[str]],
        help: str,
    ) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)
        self._lines = lines

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        for line in self._lines():
            print(line)
        parser.exit()
