"""Names the causes of failures under the engine `valgrind`, by what its log has."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from typing import NamedTuple

from halo.binary.process.foreground import Ending

MAX_THREADS = 10_000
"""The number of threads that can live at once: each takes the engine 3.6 KB, used or not."""
MAX_MAPPINGS = 30_000
"""The size of the core's table of mappings, which is compiled in."""
OTHER_ENGINE = "record it with --engine native, if bursts of its accesses will do"


class Cause(NamedTuple):
    """A pattern of the log, what it means of the program, and the remedy.

    With `signals`, it holds only if one of these ended the program.
    """

    pattern: str
    meaning: str
    remedy: str = ""
    signals: Sequence[int] = ()


# The engine itself ended the program.
FATAL = (
    Cause(
        "halo: sandboxed",
        "was killed in a sandbox that it made, which may forbid system calls of the recorder",
        "record it with its sandbox switched off, if it can be",
        (signal.SIGSYS, signal.SIGKILL),
    ),
    Cause(
        "unhandled instruction bytes",
        "executed an instruction that cannot be translated, as those of AVX-512",
        "record it with --engine native or llvm, or a build for another processor",
        (signal.SIGILL,),
    ),
    Cause(
        "Max number of threads is too low",
        f"has more than {MAX_THREADS - 1:,} threads at once, the limit of the engine valgrind",
        OTHER_ENGINE,
    ),
    Cause(
        "halo: a full table: VG_N_SEGMENTS",
        f"has more memory mappings at once than the engine valgrind can follow, {MAX_MAPPINGS:,}"
        " with its own (each thread needs four)",
        OTHER_ENGINE,
    ),
    Cause(
        r"unimplemented functionality:\n(?:==\d+==)? *(.*?)\.?\n",
        r"needs what the engine valgrind lacks (\1)",
        OTHER_ENGINE,
    ),
    Cause(
        "halo: too little address space",
        "leaves the engine valgrind too little address space",
        "record it without ulimit -v",
    ),
    Cause(
        r"memory management: out of memory|halo: a full table|'impossible' happened",
        "ended because the engine valgrind itself failed",
        OTHER_ENGINE,
    ),
)
NOT_STARTED = Cause(
    "",
    "could not be started by the engine valgrind, which has no place for programs with more than"
    " 1.3 GB of code and static data",
    OTHER_ENGINE,
)
# The engine differs from a processor and a kernel; what the program then does is its own affair.
POSSIBLE = (
    Cause(
        "halo: another rounding mode",
        "sets another rounding mode, and the engine valgrind always rounds to the nearest value",
    ),
    Cause(
        "halo: no room for a mapping",
        "maps more than the engine valgrind has address space for, 24 TiB",
    ),
    Cause(
        "Stack overflow in thread",
        "has outgrown its main stack, which is limited by ulimit -s and to 1 GiB",
    ),
    Cause(
        r"unhandled amd64-linux syscall: (\d+)",
        r"uses the system call \1, which the engine valgrind does not know",
    ),
)


def fatal_cause(log: str | None, ending: Ending) -> Cause | None:
    """Why the engine ended the program; None if it did not.

    `log`: None if there is none. The engine creates it before it starts the program.
    """
    if not ending.signal and not ending.exit_status:
        return None
    return NOT_STARTED if log is None else _first(FATAL, log, ending)


def possible_cause(log: str | None, ending: Ending) -> str:
    """A difference of the engine that may be why the program ended in this way; empty if none."""
    found = _first(POSSIBLE, log or "", ending)
    return found.meaning if found else ""


def _first(causes: Sequence[Cause], log: str, ending: Ending) -> Cause | None:
    for cause in causes:
        found = re.search(cause.pattern, log)
        if found and (not cause.signals or ending.signal in cause.signals):
            return cause._replace(meaning=found.expand(cause.meaning))
    return None
