"""Writes the suggested structures in C: the hot part with a pointer, and the cold part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from halo.studies.tracing.analyses.split.counts import ClassUse
from halo.studies.tracing.analyses.split.layout import Parts
from halo.studies.tracing.analyses.split.types import Leaf, is_spelt

NO_TAGS: Mapping[str, str] = {}
INDENT = "    "
NOT_A_LETTER = re.compile(r"\W+")
FUNCTION = re.compile(r"\((?:[\w:]+::)?\*")
"""In the type of a pointer to a function, array or member, the mark before the variable's name."""
LENGTH = re.compile(r"\[\d*\]")
NAME = re.compile(r"(?<![\w:])(?<!struct )(?<!union )(?<!enum )[A-Za-z_]\w*(?!\w|::)")
"""The name of a type without a keyword in front and outside namespaces."""


def suggest(use: ClassUse, parts: Parts, tags: Mapping[str, str]) -> str:
    """Both structures; `tags` are the keywords that C requires in front of type names."""
    declared = use.declared
    name = identifier(declared.name)
    cold = f"{name}_cold"
    note = f"/* {declared.bytes} bytes become {parts.hot_bytes}, and {parts.cold_bytes} apart. */"
    body = _lines(parts.hot, tags)
    pointer = f"{INDENT}struct {cold} *cold;"
    # A flexible array has to be the last member.
    behind = len(body) - 1 if parts.hot and _is_flexible(parts.hot[-1]) else len(body)
    lines = [
        note,
        f"struct {cold} {{",
        *_lines(parts.cold, tags),
        "};",
        "",
        f"struct {name} {{",
        *body[:behind],
        pointer,
        *body[behind:],
        "};",
    ]
    return "\n".join(lines) + "\n"


def identifier(name: str) -> str:
    """A class's name as an identifier: without namespaces, with template arguments joined."""
    head, _, arguments = name.partition("<")
    return NOT_A_LETTER.sub("_", f"{head.rpartition('::')[2]}_{arguments}").strip("_") or "nameless"


def declare(type_: str, name: str, tags: Mapping[str, str] = NO_TAGS) -> str:
    """A declaration without its semicolon; arrays and pointers to functions enclose the name."""
    type_ = _tagged(type_.strip(), tags)
    function = FUNCTION.search(type_)
    if function:
        # Behind the arguments are the marks of arrays of, or pointers to, such pointers.
        last = type_.rindex(")") + 1
        marks, lengths = _marks(type_[last:])
        inner = f"{type_[: function.end()]}{marks}{name}{lengths}"
        return f"{inner}{type_[function.end() : last]}"
    array = _array_at(type_)
    kind, rest = type_[:array].rstrip(), type_[array:]
    marks, lengths = _marks(rest)
    if marks:
        return f"{kind} ({marks}{name}){lengths}"
    stars = kind[len(kind.rstrip("*&")) :]
    return f"{kind.rstrip('*&').rstrip()} {stars}{name}{lengths}"


def _marks(rest: str) -> tuple[str, str]:
    """Stars, and the lengths of arrays."""
    lengths = "".join(LENGTH.findall(rest))
    marks = LENGTH.sub("", rest).strip()
    return f"{marks} " if marks.endswith("const") else marks, lengths


def _array_at(type_: str) -> int:
    """The index of an array's lengths in its type, outside template arguments."""
    depth = 0
    for at, letter in enumerate(type_):
        depth += (letter == "<") - (letter == ">")
        if letter == "[" and not depth:
            return at
    return len(type_)


def _tagged(type_: str, tags: Mapping[str, str]) -> str:
    return NAME.sub(lambda found: f"{tags.get(found.group(), '')} {found.group()}".lstrip(), type_)


def _is_flexible(member: Leaf) -> bool:
    return not member.bytes and "[" in member.type


def _lines(members: Sequence[Leaf], tags: Mapping[str, str]) -> list[str]:
    return [f"{INDENT}{line}" for member in members for line in _declarations(member, tags)]


def _declarations(member: Leaf, tags: Mapping[str, str]) -> list[str]:
    if member.virtual:
        return ["/* the pointer to the virtual functions */"]
    if member.parts and member.type:
        bits = [f"{declare(type_, _word(name), tags)};" for name, type_ in member.parts]
        return ["/* share bytes: keep their widths and their order */", *bits]
    if member.nameless or not is_spelt(member.type):
        name = f"bytes_{member.offset}" if member.nameless else _word(member.name)
        return [f"unsigned char {name}[{member.bytes}]; /* {_unnamed(member)} */"]
    was = f" /* was {member.name} */" if "." in member.name else ""
    return [f"{declare(member.type, _word(member.name), tags)};{was}"]


def _word(name: str) -> str:
    return NOT_A_LETTER.sub("_", name)


def _unnamed(member: Leaf) -> str:
    kind = f"of type {member.type}" if member.type else "whose type is unknown"
    return f"as declared at offset {member.offset}, {kind}"
