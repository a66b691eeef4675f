"""Inspects the traces of a run: that of the program, and those of its children."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from halo.studies.tracing.frames import (
    END_NOTE,
    ENDING_NO_SPACE,
    FILE_HEAD,
    FRAME_HEAD,
    FRAME_KIND_END,
    FRAME_KIND_MODULE,
)

_FIRST_FRAMES = 64
"""Maximum frames to search for a module: one or two precede the first."""
_END_BYTES = FRAME_HEAD.size + END_NOTE.size
_FAILED = re.compile(rb"\n?# ended early: errno (\d+)\n\Z")


@dataclass(frozen=True)
class TraceStatus:
    """One trace; `complete` if it has its end, `errno` if writing it failed.

    `instrumented`: a module of the program has sites, or that is unknown.
    """

    path: Path
    size: int
    complete: bool
    errno: int = 0
    lost: int = 0
    instrumented: bool = True


def inspect_trace(path: Path, *, text: bool) -> TraceStatus:
    """The status by the end of the trace; a text trace has an end only if writing it failed."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(size - _END_BYTES, 0))
        end = stream.read()
    if text:
        failed = _FAILED.search(end)
        return TraceStatus(path, size, size > 0, int(failed[1]) if failed else 0)
    if len(end) < _END_BYTES:
        return TraceStatus(path, size, complete=False)
    kind, thread, payload, _ = FRAME_HEAD.unpack_from(end)
    if (kind, thread, payload) != (FRAME_KIND_END, 0, END_NOTE.size):
        return TraceStatus(path, size, complete=False)
    ending, detail, _, lost = END_NOTE.unpack_from(end, FRAME_HEAD.size)
    errno = detail if ending == ENDING_NO_SPACE else 0
    return TraceStatus(path, size, True, errno, lost, _has_module(path))


def _has_module(path: Path) -> bool:
    """Whether one of the first frames contains a module; modules precede their events."""
    with path.open("rb") as stream:
        stream.seek(FILE_HEAD.size)
        for _ in range(_FIRST_FRAMES):
            head = stream.read(FRAME_HEAD.size)
            if len(head) < FRAME_HEAD.size:
                return False
            kind, _, payload, _ = FRAME_HEAD.unpack(head)
            if kind == FRAME_KIND_MODULE:
                return True
            stream.seek(payload, os.SEEK_CUR)
    return False


def describe(first: TraceStatus, others: int, *, killed: bool) -> str:
    """The status of a run's traces, as one line of text."""
    parts = [f"{first.path}: {_bytes(first.size)}"]
    if others:
        parts.append(f"{others} further process{'es' if others > 1 else ''} in {first.path.name}.*")
    if first.errno:
        parts.append(f"ended early, as writing failed ({os.strerror(first.errno)})")
    elif not first.complete:
        parts.append(_without_end(first, killed))
    if first.complete and not first.instrumented:
        parts.append("no executed code is instrumented: the filters of the compiler match nothing")
    if first.lost:
        parts.append(f"{first.lost} events lost")
    return "; ".join(parts)


def _without_end(trace: TraceStatus, killed: bool) -> str:
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
