"""Writes a page with every key of halo's JSON results, from the types of these documents.

generate_results_format.py FILE; `make docs` writes build/docs/results.md.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from msgspec import inspect as types

REPOSITORY = Path(__file__).resolve().parents[1]
MODULES = (
    "halo.base.schema.results",
    "halo.base.schema.summary",
    "halo.base.schema.trial",
    "halo.base.schema.aged",
    "halo.base.schema.simulation",
    "halo.studies.conflicts.document",
    "halo.studies.conflicts.coverage_document",
    "halo.base.schema.merge",
    "halo.studies.layouts.document",
    "halo.studies.search.document",
    "halo.studies.hints.document",
    "halo.studies.hints.sweep_document",
    "halo.studies.pollution.locality.document",
    "halo.studies.pollution.corun.document",
    "halo.studies.pollution.colours.document",
    "halo.studies.tracing.document",
    "halo.base.schema.detection",
    "halo.base.schema.probe",
    "halo.base.schema.check",
    "halo.base.schema.doctor",
)
HEAD = """# The keys of JSON results

The types of the documents that halo writes, and the comments of their fields.
`docs/results-format.md` has the rules for readers.
"""
FIELD = re.compile(r"^    (\w+): .*?  # (.*)$", re.MULTILINE)


def is_document(found: object) -> bool:
    """Whether it is a type with fields: a structure, or an object of another program."""
    return isinstance(found, type) and (
        issubclass(found, msgspec.Struct) or "__required_keys__" in vars(found)
    )


def documents(module: ModuleType) -> list[type]:
    """Its types, each before those that it contains."""
    found = (it for it in vars(module).values() if is_document(it))
    return [it for it in found if it.__module__ == module.__name__][::-1]


def kind(found: Any) -> str:
    """A type in words."""
    match found:
        case types.IntType():
            return "count" if found.ge == 0 else "whole number"
        case types.FloatType():
            return "0 to 1" if found.le == 1 else "number"
        case types.StrType():
            return "text"
        case types.BoolType():
            return "`true` or `false`"
        case types.NoneType():
            return "`null`"
        case types.EnumType():
            return " or ".join(f"`{it.value}`" for it in found.cls)
        case types.UnionType():
            return union(found)
        case types.ListType() | types.VarTupleType():
            return f"list of {kind(found.item_type)}"
        case types.TupleType():
            return f"list of {', '.join(kind(it) for it in found.item_types)}"
        case types.DictType():
            return f"object of {kind(found.value_type)}"
        case types.StructType() | types.TypedDictType():
            return f"[{found.cls.__name__}](#{found.cls.__name__.lower()})"
    return "any"


def union(found: types.UnionType) -> str:
    kinds = [kind(it) for it in found.types]
    if {"text", "number"} <= set(kinds):
        return "text, number, `true`, `false` or `null`"
    if {"count", "number"} <= set(kinds):
        kinds.remove("count")
    return " or ".join(dict.fromkeys(kinds))


def meanings(document: type) -> dict[str, str]:
    """The comment of each field."""
    return dict(FIELD.findall(inspect.getsource(document)))


def rows(document: type) -> Iterator[str]:
    """A row of the table for each field."""
    info: Any = types.type_info(document)
    fields = {getattr(it, "name", it.encode_name): it for it in info.fields}
    for name, meaning in meanings(document).items():
        field = fields[name]
        optional = "" if field.required else ", optional"
        yield f"| `{field.encode_name}` | {kind(field.type)}{optional} | {meaning} |"


def section(document: type) -> list[str]:
    head = [f"### {document.__name__}", "", inspect.getdoc(document) or "", ""]
    return [*head, "| key | kind | meaning |", "| --- | --- | --- |", *rows(document), ""]


def generate() -> str:
    sys.path.insert(0, str(REPOSITORY))
    lines = [HEAD]
    for name in MODULES:
        module = importlib.import_module(name)
        head, *more = (module.__doc__ or "").strip().split("\n\n")
        lines += [f"## {head.rstrip('.')}", "", *more]
        for document in documents(module):
            lines += section(document)
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    output = Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(generate())


if __name__ == "__main__":
    main()
