"""Whether the confined memory of a running process has page frames of its colours."""

from __future__ import annotations

import mmap
import os
from array import array
from dataclasses import dataclass

from halo.base.errors import BadInput, MissingPart
from halo.studies.pollution.colours.board import Board

MIN_SHARE = 0.999
"""Of the confined resident pages that must have frames of the colours."""
_PRESENT = 1 << 63
_FRAME = (1 << 55) - 1
_BLOCK = 1 << 16  # pages that are read at once


@dataclass(frozen=True)
class Audit:
    resident: int  # confined pages
    right: int  # with frames of the colours
    mappings: int  # of the process

    @property
    def is_confined(self) -> bool:
        return self.right >= MIN_SHARE * self.resident


def audit(process: int, board: Board) -> Audit:
    """`MissingPart` if the kernel hides frames, `BadInput` if the process has ended."""
    resident = right = 0
    try:
        file = os.open(f"/proc/{process}/pagemap", os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        raise _hidden() from None
    except OSError as error:
        raise BadInput(f"Process {process} cannot be read: {error.strerror}.") from None
    try:
        for begin, end in board.ranges:
            for frame in _frames(file, begin // mmap.PAGESIZE, end // mmap.PAGESIZE):
                if frame == 0:
                    raise _hidden()
                resident += 1
                right += frame in board.colours
    finally:
        os.close(file)
    return Audit(resident, right, board.mappings)


def _frames(file: int, page: int, end: int) -> list[int]:
    """The frames of the resident pages."""
    found: list[int] = []
    for at in range(page, end, _BLOCK):
        entries = array("Q", os.pread(file, min(_BLOCK, end - at) * 8, at * 8))
        found.extend(entry & _FRAME for entry in entries if entry & _PRESENT)
    return found


def _hidden() -> MissingPart:
    return MissingPart("The kernel hides page frames; they need CAP_SYS_ADMIN.")


def describe_audit(found: Audit, board: Board) -> str:
    """One sentence."""
    if found.resident == 0:
        return f"No confined page is resident; the process has {found.mappings} mappings."
    share = 100 * found.right / found.resident
    return (
        f"{found.right} of {found.resident} confined resident pages ({share:.2f} %) have colours"
        f" {board.colours}; the process has {found.mappings} mappings."
    )
