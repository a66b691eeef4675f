"""Runs a program under one of the recording engines, without `halo record`."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from halo.errors import MissingPart
from halo.recording.qemu_binary import find_qemu
from halo.settings import read_settings
from support.command import BUILD

LIB = BUILD / "lib"
QEMU = "/usr/bin/qemu-x86_64"
TIMEOUT = 120

Run = subprocess.CompletedProcess[str]
Engine = Callable[[Sequence[str], Path, str, str, str, int | None], Run]
"""Command, folder, standard input, options (",NAME=VALUE..."), prefix of parts, address space."""


def limiter(limit: int | None) -> Callable[[], None]:
    def limit_memory() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return limit_memory


def under_qemu(
    command: Sequence[str], folder: Path, stdin: str, options: str, out: str, limit: int | None
) -> Run:
    plugin = f"{LIB}/libhalo-recorder.so,out={out}{options}"
    preload = f"LD_PRELOAD={LIB}/libhalo-guest.so"
    return subprocess.run(
        [QEMU, "-E", preload, "-plugin", plugin, *command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        cwd=folder,
        preexec_fn=limiter(limit),
        check=False,
    )


def under_valgrind(
    command: Sequence[str], folder: Path, stdin: str, options: str, out: str, limit: int | None
) -> Run:
    """All accesses; standard error is the consumer's and the program's, one behind the other."""
    socket = folder / "channels"
    socket.unlink(missing_ok=True)
    given = [option for option in options.split(",") if option]
    with subprocess.Popen(
        [str(BUILD / "bin" / "halo-consumer"), str(socket), f"out={out}", *given],
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
        largest = [f"--max-object={o[11:]}" for o in given if o.startswith("max_object=")]
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


def qemu_loads_plugins() -> bool:
    try:
        find_qemu(read_settings())
    except MissingPart:
        return False
    return True


needs_qemu = pytest.mark.skipif(
    not qemu_loads_plugins(), reason="this system's QEMU loads no plugins, as Debian 13's"
)
ENGINES: dict[str, Engine] = {"qemu": under_qemu, "valgrind": under_valgrind}
ENGINE_NAMES = [pytest.param("qemu", marks=needs_qemu), "valgrind"]
