"""Detects input on halo's standard input, which no measured run would read."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import termios

WARNING = (
    "halo's own standard input is not passed on: every run gets an empty one; give the program its"
    " input as a file, with --stdin FILE."
)


def ignored_input(descriptor: int = 0) -> bool:
    """True if a file that is not empty, or a pipe or socket with data in it, is standard input."""
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return status.st_size > os.lseek(descriptor, 0, os.SEEK_CUR)
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            return _waiting_bytes(descriptor) > 0
    except OSError:
        pass
    return False


def _waiting_bytes(descriptor: int) -> int:
    answer = fcntl.ioctl(descriptor, termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])
