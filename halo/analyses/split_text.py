"""The suggested structures as C text: the hot part with a pointer, and the cold part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from halo.analyses.split_counts import ClassUse
from halo.analyses.split_layout import Parts
from halo.analyses.split_types import Leaf, bare

NO_TAGS: Mapping[str, str] = {}
INDENT = "    "
NOT_A_LETTER = re.compile(r"\W+")
FUNCTION = re.compile(r"\((?:[\w:]+::)?\*")
"""In the type of a pointer to a function, an array or a member: its name stands behind it."""
BASE = re.compile(r"^((?:(?:const|volatile)\s+)*)([A-Za-z_]\w*)\b")


def suggest(use: ClassUse, parts: Parts, tags: Mapping[str, str]) -> str:
    """Both structures; `tags` has the keyword that C wants in front of a type's name."""
    declared = use.declared
    name = identifier(declared.name)
    cold = f"{name}_cold"
    note = f"/* {declared.bytes} bytes become {parts.hot_bytes}, and {parts.cold_bytes} apart. */"
    body = _lines(parts.hot, tags)
    pointer = f"{INDENT}struct {cold} *cold;"
    # An array without a length has to be the last.
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
    """A class's name as one word: without namespaces, template arguments joined on."""
    head, _, arguments = name.partition("<")
    return NOT_A_LETTER.sub("_", f"{head.rpartition('::')[2]}_{arguments}").strip("_") or "nameless"


def declare(type_: str, name: str, tags: Mapping[str, str] = NO_TAGS) -> str:
    """A declaration without its semicolon: arrays and pointers to functions around the name."""
    type_ = _tagged(type_.strip(), tags)
    function = FUNCTION.search(type_)
    if function:
        return f"{type_[: function.end()]}{name}{type_[function.end() :]}"
    array = _array_at(type_)
    kind, lengths = type_[:array].rstrip(), type_[array:]
    between = "" if kind.endswith(("*", "&")) else " "
    if not between:
        kind = f"{kind.rstrip('*&').rstrip()} {kind[len(kind.rstrip('*&')) :]}"
    return f"{kind}{between}{name}{lengths}"


def _array_at(type_: str) -> int:
    """Where the lengths of an array begin, not counting what stands in template arguments."""
    depth = 0
    for at, letter in enumerate(type_):
        depth += (letter == "<") - (letter == ">")
        if letter == "[" and not depth:
            return at
    return len(type_)


def _tagged(type_: str, tags: Mapping[str, str]) -> str:
    found = BASE.match(type_)
    if found is None or found.group(2) not in tags:
        return type_
    return f"{found.group(1)}{tags[found.group(2)]} {type_[found.end(1) :]}"


def _is_flexible(member: Leaf) -> bool:
    return not member.bytes and "[" in member.type


def _lines(members: Sequence[Leaf], tags: Mapping[str, str]) -> list[str]:
    return [f"{INDENT}{line}" for member in members for line in _declarations(member, tags)]


def _declarations(member: Leaf, tags: Mapping[str, str]) -> list[str]:
    last = member.name.rpartition(".")[2]
    if member.virtual:
        return ["/* the pointer to the virtual functions */"]
    if member.parts and member.type:
        bits = [f"{declare(type_, name, tags)};" for name, type_ in member.parts if name]
        return ["/* share bytes: keep their widths */", *bits]
    name = member.name.replace(".", "_")
    if not last or not bare(member.type):
        name = name or f"bytes_{member.offset}"
        return [f"unsigned char {name}[{member.bytes}]; /* {_unnamed(member)} */"]
    was = f" /* was {member.name} */" if "." in member.name else ""
    return [f"{declare(member.type, name, tags)};{was}"]


def _unnamed(member: Leaf) -> str:
    kind = f"of type {member.type}" if bare(member.type) else "whose type has no name"
    return f"as declared at offset {member.offset}, {kind}"
