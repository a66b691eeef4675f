"""Runs a halo command on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import sys
import termios
from pathlib import Path


def on_terminal(width: int, *arguments: str, cwd: Path, term: str = "xterm") -> tuple[int, str]:
    """The command's status, and what it leaves on a terminal of that width."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(cwd)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 50, width, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        command = [sys.executable, "-m", "halo", *arguments]
        os.execve(sys.executable, command, {**environment, "TERM": term})
    found = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux reports in this way that the other end is closed
            break
        found += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), found.decode()
