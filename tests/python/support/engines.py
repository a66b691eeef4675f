"""Runs a program under the engine `valgrind`, without `halo record`."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from support.command import BUILD

LIB = BUILD / "lib"
TIMEOUT = 120

Run = subprocess.CompletedProcess[str]


def limiter(limit: int | None) -> Callable[[], None]:
    def limit_memory() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return limit_memory


def under_valgrind(
    command: Sequence[str],
    folder: Path,
    stdin: str,
    options: Sequence[str],
    out: str,
    limit: int | None,
) -> Run:
    """All accesses; standard error is the consumer's and the program's, one behind the other.

    `options` are the consumer's, `out` is the prefix of the parts, and `limit` that of the address
    space in bytes.
    """
    socket = folder / "channels"
    socket.unlink(missing_ok=True)
    with subprocess.Popen(
        [str(BUILD / "bin" / "halo-consumer"), str(socket), f"out={out}", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as consumer:
        assert consumer.stdin and consumer.stdout and consumer.stderr
        if consumer.stdout.readline() != "ready\n":
            said = consumer.stderr.read()
            return Run(command, consumer.wait(), "", said)
        environment = {
            **os.environ,
            "LD_PRELOAD": str(LIB / "libhalo-guest.so"),
            "VALGRIND_LAUNCHER": str(LIB / "valgrind" / "halo-amd64-linux"),
        }
        largest = [f"--max-object={o[11:]}" for o in options if o.startswith("max_object=")]
        tool = [str(LIB / "valgrind" / "halo-amd64-linux"), "--command-line-only=yes", "-q"]
        tool += [
            "--tool=halo",
            "--vgdb=no",
            "--check-ir",
            f"--log-file={folder / 'log'}",
            "--exact",
        ]
        run = subprocess.run(
            [*tool, f"--socket={socket}", *largest, *command],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            cwd=folder,
            env=environment,
            preexec_fn=limiter(limit),
            check=False,
        )
        consumer.stdin.close()
        said = consumer.stderr.read()
        assert consumer.wait() == 0, said
    return Run(run.args, run.returncode, run.stdout, said + run.stderr)
