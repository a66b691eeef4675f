"""Parses options given as text (`--option key=value`) into the dataclass that declares them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from typing import Any, TypeVar, get_type_hints

from halo.base.errors import BadInput

_Options = TypeVar("_Options")
REQUIRED: Any = MISSING
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def option(
    default: Any,
    text: str,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field with a help text and the values it accepts (`low` to `high`, inclusive).

    If the default is `REQUIRED`, the option must be given.
    """
    metadata = {"text": text, "low": low, "high": high, "choices": choices}
    return field(default=default, metadata=metadata)


def parse_options(kind: type[_Options], given: Mapping[str, str], subject: str) -> _Options:
    """An instance of the dataclass `kind`, filled from text; `subject` is named in errors.

    Fields may be `int`, `float`, `bool` or `str`. Raises `BadInput` for an unknown key (naming the
    valid ones), for text that is not of the field's type, and for a value out of range.
    """
    declared = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    types = get_type_hints(kind)
    values = {}
    for key, text in given.items():
        if key not in declared:
            valid = ", ".join(declared) or "none"
            raise BadInput(f"{subject} has no option {key}; its options are: {valid}.")
        value = _convert(types[key], str(text), f"{subject}: option {key}")
        _check(value, declared[key].metadata, f"{subject}: option {key}")
        values[key] = value
    for name, item in declared.items():
        if item.default is MISSING and name not in values:
            raise BadInput(f"{subject} needs the option {name}={item.metadata['text']}.")
    return kind(**values)


def describe_options(kind: type[Any]) -> list[tuple[str, str, str]]:
    """Rows of (name, default, help text); the default of a required option is empty."""
    return [
        (
            item.name,
            "" if item.default is MISSING else str(item.default).lower(),
            str(item.metadata.get("text", "")),
        )
        for item in fields(kind)
    ]


def _convert(kind: type[Any], text: str, subject: str) -> int | float | bool | str:
    if kind is bool:
        if text.lower() not in _TRUTH:
            raise BadInput(f"{subject} must be true or false, not {text!r}.")
        return _TRUTH[text.lower()]
    if kind is str:
        return text
    name = "a whole number" if kind is int else "a number"
    try:
        value: int | float = int(text) if kind is int else float(text)
    except ValueError as error:
        raise BadInput(f"{subject} must be {name}, not {text!r}.") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"{subject} must be {name}, not {text!r}.")
    return value


def _check(value: Any, accepted: Mapping[str, Any], subject: str) -> None:
    low, high, choices = (accepted.get(key) for key in ("low", "high", "choices"))
    if low is not None and value < low:
        raise BadInput(f"{subject} must be at least {low}, not {value}.")
    if high is not None and value > high:
        raise BadInput(f"{subject} must be at most {high}, not {value}.")
    if choices and value not in choices:
        raise BadInput(f"{subject} must be one of {', '.join(choices)}, not {value!r}.")
