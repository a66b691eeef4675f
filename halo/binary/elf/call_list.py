"""Lists the call instructions of a file with the called functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from halo.binary.elf.disassembly import Instruction

_SYMBOL = re.compile(r"<([^<>+]+?)(?:@plt|@[A-Z][\w.]*)?>$")
_CLONE = re.compile(r"(\.(part|constprop|isra|cold|llvm|lto_priv)(\.\d+)?)+$")


@dataclass(frozen=True)
class Call:
    """A call by its return address; `callee` is a symbol's name, or empty if it is unknown."""

    return_address: int
    callee: str


def calls_among(instructions: Iterable[Instruction]) -> Iterator[Call]:
    """The calls among the instructions of a file, in their order."""
    pending: str | None = None
    for instruction in instructions:
        if pending is not None:
            yield Call(instruction.address, pending)
        calls = instruction.mnemonic in ("call", "callq")
        pending = _callee(instruction.operands) if calls else None


def _callee(operands: str) -> str:
    """`1090 <malloc@plt>` and `*0x2f(%rip) # 3fc0 <malloc@GLIBC_2.2.5>` are both malloc."""
    found = _SYMBOL.search(operands)
    return function_name(found.group(1)) if found else ""


def function_name(symbol: str) -> str:
    """A symbol without the suffixes of compilers for parts and clones of a function."""
    return _CLONE.sub("", symbol)
