"""What a traced run has left: the trace of the program, and those of its children."""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

_END_FRAME = struct.Struct("<IIQQIIQQ")  # FrameHead and EndNote of src/trace/file/frames.h
_FILE_HEAD_BYTES = 16
_FRAME_HEAD = struct.Struct("<IIQQ")
_MODULE_KIND, _END_KIND = 2, 6
_FEW = 64
"""Frames before the first of a module: there are one or two."""
_NO_SPACE = 3
_FAILED = re.compile(rb"\n?# ended early: errno (\d+)\n\Z")


@dataclass(frozen=True)
class Left:
    """One trace; `complete` where it has its end, `errno` where writing it failed.

    `instrumented`: a module of the program had sites, or that is not known.
    """

    path: Path
    size: int
    complete: bool
    errno: int = 0
    lost: int = 0
    instrumented: bool = True


def look_at(path: Path, *, text: bool) -> Left:
    """Reads no more than the end of the trace. Text has one only where writing it failed."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - _END_FRAME.size, 0))
        end = stream.read()
    if text:
        failed = _FAILED.search(end)
        return Left(path, size, size > 0, int(failed[1]) if failed else 0)
    if len(end) < _END_FRAME.size:
        return Left(path, size, complete=False)
    kind, thread, payload, _, ending, detail, _, lost = _END_FRAME.unpack(end)
    if (kind, thread, payload) != (_END_KIND, 0, 24):
        return Left(path, size, complete=False)
    errno = detail if ending == _NO_SPACE else 0
    return Left(path, size, True, errno, lost, _has_module(path))


def _has_module(path: Path) -> bool:
    """Whether one of the first frames tells of a module; modules come before their events."""
    with path.open("rb") as stream:
        stream.seek(_FILE_HEAD_BYTES)
        for _ in range(_FEW):
            head = stream.read(_FRAME_HEAD.size)
            if len(head) < _FRAME_HEAD.size:
                return False
            kind, _, payload, _ = _FRAME_HEAD.unpack(head)
            if kind == _MODULE_KIND:
                return True
            stream.seek(payload, os.SEEK_CUR)
    return False


def describe(first: Left, others: int, *, killed: bool) -> str:
    """One line for people."""
    parts = [f"{first.path}: {_bytes(first.size)}"]
    if others:
        parts.append(f"{others} further process{'es' if others > 1 else ''} in {first.path.name}.*")
    if first.errno:
        parts.append(f"ended early, as writing failed ({os.strerror(first.errno)})")
    elif not first.complete:
        parts.append(_without_end(first, killed))
    if first.complete and not first.instrumented:
        parts.append("nothing that ran is instrumented: the filters of the compiler match nothing")
    if first.lost:
        parts.append(f"{first.lost} events lost")
    return "; ".join(parts)


def _without_end(trace: Left, killed: bool) -> str:
    if killed:
        return "cut short, as the program was killed"
    return "nothing could be written" if not trace.size else "cut short, as its end is missing"


def _bytes(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} GiB"
