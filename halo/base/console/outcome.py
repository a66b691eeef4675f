"""Maps failures and signals to a sentence on stderr and an exit status, for all commands."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from typing import TextIO

from halo.base.ending_signals import Ended, EndingSignals
from halo.base.errors import BadInput, HaloError, MissingPart

INTERRUPTED = 130
BROKEN_PIPE = 141
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Errors that a path of the user's can cause; all others are internal errors.
OF_A_PATH = (
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.ENOTDIR, errno.EISDIR),
)


def status_of(
    act: Callable[[], int], debug: bool, package_command: Callable[[str], str] = str
) -> int:
    """The return value of `act`; if it fails, the exit status by docs/exit-status.md.

    `package_command`: the command that installs the Python package of a name.
    """
    with EndingSignals() as signals:
        try:
            return _status_of(signals, act, debug, package_command)
        except KeyboardInterrupt as error:
            return _ended(signals.received or error)


def _status_of(
    signals: EndingSignals,
    act: Callable[[], int],
    debug: bool,
    package_command: Callable[[str], str],
) -> int:
    try:
        signals.deliver()
        status = act()
        flush_output()
        return status
    except BrokenPipeError:
        return _ended(signals.received) if signals.received else _reader_gone()
    except Exception as error:
        # Libraries convert an interruption into their own exceptions.
        if signals.received:
            return _ended(signals.received)
        failure = known(error, package_command)
        if failure is not None:
            _drop_unwritten()
            return fail(failure)
        if debug:
            raise
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return fail(HaloError(f"Unexpected {what}; set HALO_DEBUG=1 and repeat to see where."))


def known(error: Exception, package_command: Callable[[str], str] = str) -> HaloError | None:
    """The failure that an exception stands for; None for an internal error."""
    if isinstance(error, HaloError):
        return error
    if isinstance(error, ModuleNotFoundError) and not (error.name or "halo").startswith("halo"):
        name = re.sub(r"\.[a-z].*", "", str(error.name))  # of a module in it; `.8` is a version
        return MissingPart(f"The Python package {name} is missing; run: {package_command(name)}")
    if not isinstance(error, OSError):
        return None
    name = "" if error.filename is None else os.fsdecode(error.filename)
    if error.errno in FULL:
        where = f" for {name}" if name else ", for a file or for standard output"
        return BadInput(
            f"No space is left{where} ({error.strerror}); free some, or choose a place on"
            " another disk."
        )
    if name and error.errno in OF_A_PATH:
        return BadInput(f"{name} cannot be used: {error.strerror}; check its path and its rights.")
    return None


def fail(error: HaloError) -> int:
    """Prints the one sentence and returns the exit status."""
    say(f"halo: {' '.join(str(error).split())}")
    return error.exit_status


def say(line: str, whole: bool = False) -> None:
    """Prints a line to stderr; does nothing if stderr is a closed pipe.

    On a terminal it is broken between words, unless it is `whole`: a command to copy.
    """
    try:
        width = 0 if whole else _terminal_width()
        print(_broken(line, width) if width else line, file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def _terminal_width() -> int:
    """The columns of the terminal that stderr is; 0 if it is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        return 0
    return os.get_terminal_size(sys.stderr.fileno()).columns


def _broken(line: str, width: int) -> str:
    from halo.base.console.terminal import wrap

    return "\n".join(wrap(line, width))


def flush_output() -> None:
    """Flushes stdout here, as a failure at Python's exit would have another exit status."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _ended(by: KeyboardInterrupt) -> int:
    """The exit status that a shell reports for a process killed by the signal."""
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
    """Flushes both streams; drops the output of one whose reader is gone."""
    try:
        flush_output()
    except OSError:
        _drop(sys.stdout)


def _drop(stream: TextIO | None) -> None:
    """Redirects the stream to /dev/null, as Python flushes it again at exit."""
    if stream is not None:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):  # not a file: a test's
            return
