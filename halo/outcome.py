"""The one place where a failure, or a signal, becomes a sentence on stderr and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import TextIO

from halo.ending_signals import Ended, EndingSignals
from halo.errors import BadInput, HaloError, MissingPart

INTERRUPTED = 130
BROKEN_PIPE = 141
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# What a path that the user names can be the cause of; anything else is an accident inside halo.
OF_A_PATH = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.ENOTDIR, errno.EISDIR),
)


def status_of(act: Callable[[], int], debug: bool) -> int:
    """What `act` returns; where it fails, the status that docs/exit-status.md has for that."""
    with EndingSignals() as signals:
        try:
            status = act()
            flush_output()
            return status
        except BrokenPipeError:
            return _ended(signals.received) if signals.received else _reader_gone()
        except KeyboardInterrupt as error:
            return _ended(signals.received or error)
        except Exception as error:
            # Libraries turn an interruption into failures of their own.
            if signals.received:
                return _ended(signals.received)
            failure = known(error)
            if failure is not None:
                _drop_unwritten()
                return fail(failure)
            if debug:
                raise
            what = " ".join(f"{type(error).__name__}: {error}".split())
            return fail(HaloError(f"Unexpected {what}; set HALO_DEBUG=1 and repeat to see where."))


def known(error: Exception) -> HaloError | None:
    """The failure with a sentence for the user; None for an accident."""
    if isinstance(error, HaloError):
        return error
    if isinstance(error, ModuleNotFoundError) and not (error.name or "halo").startswith("halo"):
        return MissingPart(f"The Python package {error.name} is missing in .venv; run: make build")
    if not isinstance(error, OSError):
        return None
    name = "" if error.filename is None else os.fsdecode(error.filename)
    if error.errno in FULL:
        where = f" for {name}" if name else ", for a file or for standard output"
        return BadInput(
            f"There is no space left{where} ({error.strerror}); free some, or choose a place on"
            " another disk."
        )
    if name and error.errno in OF_A_PATH:
        return BadInput(f"{name} cannot be used: {error.strerror}; check its path and its rights.")
    return None


def fail(error: HaloError) -> int:
    """Prints the one sentence and returns the exit status."""
    say(f"halo: {' '.join(str(error).split())}")
    return error.exit_status


def say(line: str) -> None:
    """A line on stderr; nothing where nobody reads it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def flush_output() -> None:
    """Here, because at Python's end nothing could be said, and the status would be another."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _ended(by: KeyboardInterrupt) -> int:
    """The status of a shell for a process that the signal has killed."""
    _drop_unwritten()
    if not isinstance(by, Ended) or 128 + by.number == INTERRUPTED:
        say("halo: interrupted")
        return INTERRUPTED
    say(f"halo: ended by {by}")
    return 128 + by.number


def _reader_gone() -> int:
    for stream in (sys.stdout, sys.stderr):
        _drop(stream)
    return BROKEN_PIPE


def _drop_unwritten() -> None:
    """What is written already goes out where somebody still reads it."""
    try:
        flush_output()
    except OSError:
        _drop(sys.stdout)


def _drop(stream: TextIO | None) -> None:
    """Python would complain again when it flushes at the end."""
    if stream is not None:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):  # not a file: a test's
            return
