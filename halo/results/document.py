"""Checked access to untrusted JSON: a value of the right kind, or a word on what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
N = TypeVar("N", int, float)

LARGEST = 1 << 64


class Damaged(ValueError):
    """A value is missing or of the wrong kind; the message names it."""


def mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Damaged(f"{what} is not an object")
    return value


def rows(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise Damaged(f"{what} is not a list")
    return value


def number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or _is_nan(value):
        raise Damaged(f"{what} is not a number")
    return float(_possible(value, what))


def count(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Damaged(f"{what} is not a whole number")
    return _possible(value, what)


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Damaged(f"{what} is not a text")
    return value


def flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise Damaged(f"{what} is neither true nor false")
    return value


def share(value: Any, what: str) -> float:
    """A part of a whole, 0 to 1."""
    found = number(value, what)
    if found > 1:
        raise Damaged(f"{what} is more than 1")
    return found


def optional(value: Any, what: str, kind: Callable[[Any, str], T]) -> T | None:
    return None if value is None else kind(value, what)


def _is_nan(value: float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _possible(value: N, what: str) -> N:
    """The number, if something that is counted or measured can come to it."""
    if value < 0:
        raise Damaged(f"{what} is negative")
    if value > LARGEST:
        raise Damaged(f"{what} is impossibly large")
    return value


def counts(value: Any, what: str) -> Mapping[str, int]:
    """An object of whole numbers."""
    return {key: count(item, f"{what}.{key}") for key, item in mapping(value, what).items()}
