"""The service of the tests: the program ledger, its load, and a port that is free."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

from support.command import REPOSITORY

SOURCES = REPOSITORY / "tests" / "programs" / "services"
LOAD = SOURCES / "load.py"


def compile_ledger(folder: Path) -> Path:
    output = folder / "ledger"
    command = ["g++", "-O2", "-std=c++20", str(SOURCES / "ledger.cc"), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    return output


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def living(word: str) -> list[int]:
    """The living processes with that word in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in words and state not in "ZX":
            found.append(int(name))
    return found
