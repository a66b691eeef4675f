"""Lists the instructions of a file by binutils' `objdump`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

_SECONDS = 600
_LINE = re.compile(r"^ +([0-9a-f]+):\t(\S+)(?: +(.*))?$")


class Instruction(NamedTuple):
    """One instruction in AT&T syntax; `operands` includes the symbol that they name, in <>."""

    address: int
    mnemonic: str
    operands: str


def instructions_of(path: str) -> Iterator[Instruction]:
    """All instructions, ascending in each section; none if objdump cannot read the file."""
    command = ("objdump", "-d", "--no-show-raw-insn", "-w", path)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return
    for line in done.stdout.splitlines():
        found = _LINE.match(line)
        if found is not None:
            address, mnemonic, operands = found.groups()
            yield Instruction(int(address, 16), mnemonic, operands or "")
