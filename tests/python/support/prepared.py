"""Runs commands of `halo` in forks of a process that has loaded their modules.

Loading takes longer than most commands of the tests. A fork has the arguments, the environment, the
directory and the standard streams that a new process would have. What Python and the dynamic linker
read when they start is the server's: `can_prepare` refuses an environment that differs in that. Two
servers take turns, so that consecutive commands hash strings differently, as new processes do.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

SERVER = Path(__file__).with_name("command_server.py")
SERVERS = 2
NUMBER = 32  # more bytes than a number of an answer has
AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_TUNABLES")


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


SERVED = dict(os.environ)


def can_prepare(environment: Mapping[str, str]) -> bool:
    return _at_start(environment) == _at_start(SERVED)


class Server:
    """A process of `SERVER`; it ends with this one, which closes its socket."""

    def __init__(self) -> None:
        self._socket, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            # Pipes, as Python's streams are those of a command whose output is captured.
            self._process = subprocess.Popen(
                [sys.executable, SERVER, str(its.fileno())],
                env=SERVED,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[its.fileno()],
            )

    def start(
        self,
        arguments: Sequence[str],
        directory: Path,
        environment: Mapping[str, str],
        streams: Sequence[int],
    ) -> socket.socket:
        """Starts a command; the returned socket gets its process id and then its status."""
        answers, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            request = json.dumps([arguments, str(directory), dict(environment)])
            socket.send_fds(self._socket, [request.encode()], [its.fileno(), *streams])
        return answers


@cache
def _servers() -> itertools.cycle[Server]:
    return itertools.cycle([Server() for _ in range(SERVERS)])


def run_prepared(
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    stdin: str,
    seconds: float,
) -> tuple[int, str, str]:
    """The status, negative for a signal, the output and the errors of `halo ARGUMENTS`.

    Raises `subprocess.TimeoutExpired` after it has killed a command that takes longer.
    """
    (in_read, in_write), (out_read, out_write), (error_read, error_write) = (
        os.pipe() for _ in range(3)
    )
    streams = (in_read, out_write, error_write)
    with ThreadPoolExecutor(3) as readers:
        try:
            answers = next(_servers()).start(arguments, directory, environment, streams)
        finally:
            for stream in streams:
                os.close(stream)
        texts = [readers.submit(_read, stream) for stream in (out_read, error_read)]
        readers.submit(_write, in_write, stdin)
        with answers:
            pid = _number(answers)
            if not select.select([answers], [], [], seconds)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["halo", *arguments], seconds)
            status = _number(answers)
        out, errors = (text.result() for text in texts)
    return status, out, errors


def _number(answers: socket.socket) -> int:
    answer = answers.recv(NUMBER)
    if not answer:
        raise RuntimeError(f"{SERVER.name} has ended")
    return int(answer)


def _read(descriptor: int) -> str:
    with open(descriptor) as stream:
        return stream.read()


def _write(descriptor: int, text: str) -> None:
    with suppress(BrokenPipeError), open(descriptor, "w") as stream:
        stream.write(text)
