"""Generates the Python side of layouts from the C++ headers that define them.

generate_layouts.py [--check]: with --check, exit status 1 if a file differs from the generated one.
The headers use a small part of C++: constants, enumerations, arrays, structures of integers, and
lists of columns as macros. Anything else in them is skipped.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
OUTPUTS = {
    "src/plan/format.h": "halo/plan/layout.py",
    "src/tracing/format/frames.h": "halo/studies/tracing/frames.py",
    "src/studies/layouts/layout_format.h": "halo/studies/layouts/layout_format.py",
    "src/tracing/tool/column_blocks.h": "halo/studies/tracing/analyses/column_blocks.py",
    "src/simulator/latencies.h": "halo/record/simulation/latencies.py",
    "src/studies/pollution/corun/stream_format.h": "halo/studies/pollution/corun/stream_format.py",
}
CODES = {"char": "s", "uint8_t": "B", "int8_t": "b", "uint16_t": "H", "int16_t": "h"}
CODES |= {"uint32_t": "I", "int32_t": "i", "uint64_t": "Q", "int64_t": "q"}
ARROW = {"int8_t": "pa.int8()", "int32_t": "pa.int32()", "int64_t": "pa.int64()"}
ARROW |= {"Flag": "pa.bool_()"}
ENUM = re.compile(r"enum (?:class )?(\w+) : (\w+) \{(.*?)\};", re.DOTALL)
CONSTANT = re.compile(r"inline constexpr ([\w:]+) (\w+)(\[\w*\])? =\s+([^;]+);")
STRUCT = re.compile(r"struct (\w+) \{(.*?)\n\};", re.DOTALL)
COLUMNS = re.compile(r"#define HALO_(\w+)_COLUMNS\(COLUMN\)((?:[^\n]*\\\n)*[^\n]*)")
PLACE = re.compile("|".join(f"(?:{it.pattern})" for it in (ENUM, CONSTANT, STRUCT)), re.DOTALL)


def upper(name: str) -> str:
    """A name such as kMagic or FileHead as that of a Python constant."""
    plain = re.sub(r"^k(?=[A-Z])", "", name)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).upper()


def plain(text: str) -> str:
    """The text without comments."""
    return re.sub(r"//[^\n]*", "", text)


class Header:
    """The definitions of one header, as lines of Python."""

    def __init__(self, text: str) -> None:
        self._text = plain(text)
        self._codes = dict(CODES)
        self._values: dict[str, int] = {}
        self.lines: list[str] = []
        self.structs = False
        for found in PLACE.finditer(self._text):
            whole = found[0]
            if enum := ENUM.fullmatch(whole):
                self._enum(*enum.groups())
            elif constant := CONSTANT.fullmatch(whole):
                self._constant(*constant.groups())
            elif struct := STRUCT.fullmatch(whole):
                self._struct(*struct.groups())
        self.tables = dict(self._tables())

    def _value(self, text: str) -> int:
        words = re.sub(r"\b(0x[0-9A-Fa-f]+|\d+)[uUlL]*\b", r"\1", text)
        return int(eval(words, {"__builtins__": {}}, self._values))  # our own headers

    def _set(self, name: str, value: int) -> None:
        self._values[name] = value
        self.lines.append(f"{upper(name)} = {value}")

    def _constant(self, kind: str, name: str, array: str | None, text: str) -> None:
        if kind not in CODES:
            return
        if array is None:
            self._set(name, self._value(text))
        elif kind == "char":
            letters = re.findall(r"'(\\?.)'", text)
            self.lines.append(f'{upper(name)} = b"{"".join(letters)}"')
        else:
            values = tuple(self._value(word) for word in text.strip("{} \n").split(","))
            self.lines.append(f"{upper(name)} = {values}")

    def _enum(self, name: str, kind: str, body: str) -> None:
        self._codes[name] = CODES[kind]
        scoped = f"enum class {name}" in self._text
        for member, value in re.findall(r"(\w+) = ([^,}]+)", body):
            number = self._value(value)
            self._values[member] = number
            self.lines.append(f"{upper(name) + '_' if scoped else ''}{upper(member)} = {number}")

    def _struct(self, name: str, body: str) -> None:
        codes = []
        for kind, names in re.findall(r"^\s*([\w:]+) ([^;()]+);", body, re.MULTILINE):
            for member in names.split(","):
                size = re.search(r"\[(\w+)\]", member)
                if kind not in self._codes:
                    return
                code = self._codes[kind]
                if size and code == "B" and "build_id" in member:
                    code = "s"
                codes.append(f"{self._value(size[1]) if size else ''}{code}")
        if codes:
            self.structs = True
            self.lines.append(f'{upper(name)} = struct.Struct("<{"".join(codes)}")')

    def _tables(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        for name, body in COLUMNS.findall(self._text):
            columns = re.findall(r"COLUMN\((\w+), (\w+)\)", body)
            yield name.lower(), [(column, ARROW[kind]) for kind, column in columns]


def generate(source: str) -> str:
    header = Header((REPOSITORY / source).read_text())
    lines = [f'"""Generated by scripts/generate_layouts.py from {source}."""', ""]
    imports = (["import struct"] if header.structs else []) + (
        ["", "import pyarrow as pa"] if header.tables else []
    )
    lines += [*imports, ""] if imports else []
    lines += header.lines
    if header.tables:
        lines += ["", "TABLES = {"]
        for table, columns in header.tables.items():
            lines.append(f'    "{table}": [')
            lines += [f'        ("{name}", {kind}),' for name, kind in columns]
            lines.append("    ],")
        lines.append("}")
    return "\n".join(lines) + "\n"


def main() -> int:
    stale = 0
    for source, output in OUTPUTS.items():
        path, text = REPOSITORY / output, generate(source)
        if path.exists() and path.read_text() == text:
            continue
        if "--check" in sys.argv[1:]:
            print(f"{output} differs from {source}; run: scripts/generate_layouts.py")
            stale = 1
        else:
            path.write_text(text)
    return stale


if __name__ == "__main__":
    sys.exit(main())
