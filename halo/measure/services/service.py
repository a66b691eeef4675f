"""What makes a program a service: the load, the sign that it is ready, the signal that ends it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

LISTENS, TCP, FILE, LINE = "", "tcp", "file", "line"


@dataclass(frozen=True)
class Ready:
    """The sign that a service is ready: a `kind` above, and its port, path or expression."""

    kind: str = LISTENS
    value: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" if self.kind else ""


@dataclass(frozen=True)
class Load:
    """A command that uses a service: the file to run, and its words from the zeroth on."""

    path: Path
    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True)
class Service:
    """How a program is run as a service."""

    load: Load
    ready: Ready = Ready()
    stop: signal.Signals = signal.SIGTERM

    def options(self) -> list[str]:
        """The options of a command that has this service."""
        ready = ["--ready", str(self.ready)] if self.ready.kind else []
        stop = ["--stop", self.stop.name] if self.stop != signal.SIGTERM else []
        return ["--load", str(self.load), *ready, *stop]


def parse_ready(text: str) -> Ready:
    """The sign of `--ready`; `ValueError` with a clause if it is none."""
    kind, colon, value = text.partition(":")
    if not colon or not value or kind not in (TCP, FILE, LINE):
        raise ValueError(f"'{text}' is not tcp:PORT, file:PATH or line:REGEX")
    if kind == TCP and not (value.isdecimal() and 0 < int(value) < 65536):
        raise ValueError(f"'{value}' is not a port (1 to 65535)")
    if kind == FILE:
        return Ready(kind, str(Path(value).absolute()))
    if kind == LINE:
        try:
            re.compile(value.encode())
        except (re.error, ValueError) as error:
            raise ValueError(f"'{value}' is not a regular expression: {error}") from error
    return Ready(kind, value)


def parse_signal(text: str) -> signal.Signals:
    """A signal by its name, with or without SIG, or by its number; `ValueError` if it is none."""
    name = text.upper()
    try:
        found = signal.Signals(int(text)) if text.isdecimal() else None
        found = found or signal.Signals[name if name.startswith("SIG") else f"SIG{name}"]
    except (KeyError, ValueError):
        raise ValueError(f"'{text}' is not a signal, such as TERM or INT") from None
    if found in (signal.SIGKILL, signal.SIGSTOP):
        raise ValueError(f"{found.name} lets a program neither report nor write its profile")
    return found


def parse_load(text: str) -> Load:
    """The command of `--load`: a file, also with spaces in its name, or a line as for a shell.

    `ValueError` with a sentence if it cannot be run.
    """
    try:
        words = [text] if os.path.isfile(text) else shlex.split(text)
    except ValueError:
        raise ValueError(f"The load {text!r} has an open quotation mark; close it.") from None
    if not words:
        raise ValueError("The load is empty; give the script that uses the service.")
    name = words[0]
    if os.path.isfile(name) and "/" not in name:
        name = f"./{name}"
    found = shutil.which(name)
    if found is None and os.path.isfile(name):
        raise ValueError(
            f"The load script {name} is not executable; make it so with: chmod +x {name}"
        )
    if found is None:
        raise ValueError(
            f"The load script {words[0]} does not exist; check its path, and put a command with"
            " arguments into quotation marks."
        )
    with Path(found).open("rb") as file:
        if not file.read(4).startswith((b"#!", b"\x7fELF")):
            raise ValueError(
                f"The load script {name} does not name its interpreter; begin it with: #!/bin/sh"
            )
    return Load(Path(found).absolute(), tuple(words))
