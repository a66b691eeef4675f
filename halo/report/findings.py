"""What a command has found about a program, besides measurements: a section as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from halo.report.blocks import Block


@dataclass(frozen=True)
class FindingsBlock:
    """The data of a section for the template; `command` is the program with its arguments."""

    title: str
    program: str
    command: str
    findings: Sequence[str]
    warnings: Sequence[str]
    blocks: Sequence[Block]
