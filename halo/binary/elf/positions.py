"""Maps return addresses to positions in the source, through all inlined functions."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from halo.binary.elf.call_list import function_name

_SECONDS = 600
_NAMES = ("llvm-symbolizer-19", "llvm-symbolizer")


@dataclass(frozen=True)
class Position:
    """A call in the source: the function's linkage name, the file's name, the line.

    `first` is the line where the function begins; 0 if it is unknown.
    """

    function: str
    file: str
    line: int
    first: int = 0


def symbolizer() -> str | None:
    """The command of LLVM's symbolizer, or None if it is not installed."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def positions_in(path: str, return_addresses: Iterable[int]) -> Mapping[int, tuple[Position, ...]]:
    """The positions of each call, innermost first; only of calls with debug information.

    The first is the call itself, the last is in the function that was not inlined.
    """
    wanted = sorted(set(return_addresses))
    tool = symbolizer()
    if tool is None or not wanted:
        return {}
    command = (tool, f"--obj={path}", "--output-style=JSON", "--inlines", "--no-demangle")
    try:
        done = subprocess.run(
            command,
            input="".join(f"{address - 1:#x}\n" for address in wanted),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    found = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        symbols = answer.get("Symbol") or []
        if symbols and all(symbol["FunctionName"] and symbol["Line"] for symbol in symbols):
            found[int(answer["Address"], 16) + 1] = tuple(map(_position, symbols))
    return found


def _position(symbol: Mapping[str, str | int]) -> Position:
    file = str(symbol["FileName"]).rpartition("/")[2]
    function = function_name(str(symbol["FunctionName"]))
    return Position(function, file, int(symbol["Line"]), int(symbol.get("StartLine", 0)))
