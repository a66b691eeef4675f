"""Runs each command that `prepared.py` asks for in a fork: command_server.py DESCRIPTOR.

The descriptor is that of a socket. A message on it has the arguments, the directory and the
environment as JSON, with four descriptors: a socket for the answers, and the standard streams.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import selectors
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import MetaPathFinder

import halo
from halo.cli.main import main

LONGEST = 1 << 18  # bytes of a request
# What takes long to load and few commands need, and what starts threads, which forks lack.
LEFT = ("duckdb", "jinja2", "matplotlib", "networkx", "pyarrow", "pyspark", "sklearn")


@dataclass(frozen=True)
class Request:
    """A command to run in this process, which is a fork."""

    arguments: Sequence[str]
    directory: str
    environment: dict[str, str]
    streams: Sequence[int]

    def run(self) -> int:
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(self.directory)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.path[0] = self.directory
        sys.argv = ["halo", *self.arguments]
        return main()


class Refusal(MetaPathFinder):
    """Refuses to load the modules of `LEFT`."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name.split(".")[0] in LEFT:
            raise ImportError(name)


def load() -> None:
    """Loads all modules of `halo` that load none of `LEFT`."""
    refusal = Refusal()
    sys.meta_path.insert(0, refusal)
    for module in pkgutil.walk_packages(halo.__path__, "halo.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError:
                continue
    sys.meta_path.remove(refusal)
    gc.freeze()


def serve(control: socket.socket) -> Request | None:
    """Answers requests until `control` is closed; in a fork, returns its request at once."""
    with selectors.DefaultSelector() as ready:
        ready.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.data is not None:
                    ready.unregister(key.fd)
                    _finish(key.fd, *key.data)
                    continue
                body, descriptors, _, _ = socket.recv_fds(control, LONGEST, 4)
                if not body:
                    return None
                answers, *streams = descriptors
                pid = os.fork()
                if pid == 0:
                    control.close()
                    os.close(answers)
                    arguments, directory, environment = json.loads(body)
                    return Request(arguments, directory, environment, streams)
                for stream in streams:
                    os.close(stream)
                _start(ready, pid, answers)


def _start(ready: selectors.BaseSelector, pid: int, answers: int) -> None:
    os.write(answers, str(pid).encode())
    ready.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, answers))


def _finish(process: int, pid: int, answers: int) -> None:
    os.close(process)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with socket.socket(fileno=answers) as stream, suppress(BrokenPipeError):
        stream.send(str(status).encode())  # fails if the test did not wait


def run() -> int:
    with socket.socket(fileno=int(sys.argv[1])) as control:
        try:
            load()
            request = serve(control)
        except KeyboardInterrupt:
            return 130
    return request.run() if request else 0


if __name__ == "__main__":
    sys.exit(run())
