"""What is wrong with a value, in words: from msgspec's message and the value that it is about."""

from __future__ import annotations

import re
from typing import Any

import msgspec

STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]")
WORDS = {
    "object": "is not an object",
    "array": "is not a list",
    "str": "is not a text",
    "int": "is not a whole number",
    "float": "is not a number",
    "bool": "is neither true nor false",
}
LIMIT = re.compile(r"Expected `(\w+)` (?:of length )?(>=|<=|>) (\S+)")


def describe(message: str, raw: Any, type_: Any, name: str) -> str:
    """The place in the document, by the names of its keys, and what is wrong there."""
    what, _, path = message.partition(" - at `$")
    place, value = _place(message, path.rstrip("`"), raw, type_)
    missing = re.fullmatch(r"Object missing required field `(.*)`", what)
    if missing:
        return f"{_joined(name, place, '.' + missing[1])} is missing"
    return f"{_joined(name, place) or 'the document'} {_fault(what, value)}"


def _joined(*parts: str) -> str:
    return "".join(parts).lstrip(".")


def _place(message: str, path: str, raw: Any, type_: Any) -> tuple[str, Any]:
    """The path with the keys that msgspec leaves out, and the value there."""
    place, value = "", raw
    for step in STEP.finditer(path):
        if step[1] is not None:
            key: Any = step[1]
        elif step[2] is not None:
            key = int(step[2])
        else:
            key = _culprit(message, value, raw, type_)
        place += f"[{key}]" if step[2] is not None else f".{key}"
        value = value[key]
    return place, value


def _culprit(message: str, holder: dict[str, Any], raw: Any, type_: Any) -> str:
    """The first key of an object whose value alone causes the same message."""
    entries = dict(holder)
    for key, value in entries.items():
        holder.clear()
        holder[key] = value
        try:
            msgspec.convert(raw, type_)
        except msgspec.ValidationError as error:
            if str(error) == message:
                break
    holder.clear()
    holder.update(entries)
    return key


def _fault(what: str, value: Any) -> str:
    if value != value or what.startswith("Expected `int | float"):
        return WORDS["float"]
    if length := re.match(r"Expected `array` of length (\d+)", what):
        return f"has not {length[1]} entries"
    limit = LIMIT.match(what)
    if limit and limit[1] == "array":
        return "is empty"
    if limit and limit[2] == "<=":
        return "is more than 1" if limit[3] == "1.0" else "is impossibly large"
    if limit:
        return "is negative" if limit[2] == ">=" else "is not more than 0"
    if what == "Number out of range":
        return "is impossibly large"
    if what.startswith("Invalid enum value"):
        return f"is {value!r}, which is none of the known values"
    expected = re.match(r"Expected `([\w |]+)`", what)
    kinds = [kind for kind in expected[1].split(" | ") if kind != "null"] if expected else []
    if len(kinds) == 1:
        return WORDS[kinds[0]]
    if {"str", "float"} <= set(kinds):
        return "is not a text or a number"
    if {"array", "object"} == set(kinds):
        return "is not a list or an object"
    return f"is not as documented ({what})"
