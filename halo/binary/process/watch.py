"""The environment variables of the library that watches a program (src/studies/pollution/live)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DEFAULT_SHARE = 0.5  # per cent
MAX_SHARE = 50.0


@dataclass(frozen=True)
class Watch:
    """`share`: per cent of the elapsed time that traps may take. `cache`: bytes of the last level;
    0: as the kernel reports it. `colours`: `FIRST-LAST/TOTAL`, of confined groups' page frames;
    empty: any. The JSON report is written to `report` when the program ends."""

    report: Path | None = None
    share: float = DEFAULT_SHARE
    cache: int = 0
    colours: str = ""

    def variables(self) -> Mapping[str, str]:
        found = {"HALO_WATCH": "1", "HALO_WATCH_SHARE": repr(self.share / 100)}
        if self.cache:
            found["HALO_WATCH_CACHE"] = str(self.cache)
        if self.colours:
            found["HALO_WATCH_COLOURS"] = self.colours
        if self.report is not None:
            found["HALO_WATCH_REPORT"] = os.fspath(self.report.absolute())
        return found


def watch_refusal(library: Path) -> str:
    """Why this process, and what it becomes, cannot be watched; empty if it can.

    Raises `OSError` if the library of the watch cannot be loaded.
    """
    refusal = ctypes.CDLL(os.fspath(library)).halo_watch_refusal
    refusal.argtypes, refusal.restype = (), ctypes.c_char_p
    text: bytes = refusal()
    return text.decode()
