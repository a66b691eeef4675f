"""Parsers of the numbers in options."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def natural(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return value


def positive(text: str) -> int:
    value = natural(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return value


def up_to(maximum: int | None) -> Callable[[str], int]:
    """A parser of numbers from 1 to the maximum, if there is one."""

    def parse(text: str) -> int:
        value = positive(text)
        if maximum is not None and value > maximum:
            raise argparse.ArgumentTypeError(f"'{text}' is more than {maximum}")
        return value

    return parse
