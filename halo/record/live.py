"""Records a process that runs already, and goes on: its library connects when a signal asks."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import RecordingFailed, UsageError
from halo.base.settings import Settings
from halo.binary.process.foreground import Ending
from halo.binary.process.target import Target
from halo.record.listener import listening
from halo.record.native import refuse_exact
from halo.record.parts import Limits, Recording, gather_parts
from halo.record.progress import read_progress
from halo.record.valgrind import consumer_command

# As in src/recorder/native/signals.h.
SIGNAL, REQUEST = 60, 0x4F4C4148
ANSWER_SECONDS = 5.0  # a machine may be busy
TICK_SECONDS = 0.1


@dataclass(frozen=True)
class Process:
    """A process that can be recorded."""

    number: int
    target: Target
    arguments: Sequence[str]


def find_process(settings: Settings, number: int) -> Process:
    """Raises `UsageError` unless the process can be recorded."""
    folder = Path("/proc") / str(number)
    try:
        mapped = (folder / "maps").read_text(errors="replace")
        status = (folder / "status").read_text(errors="replace")
        program = _named(Path(os.readlink(folder / "exe")), (folder / "comm").read_text().strip())
        arguments = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")[1:]
    except PermissionError:
        raise UsageError(f"Process {number} is of another user: run halo as that one.") from None
    except OSError:
        raise UsageError(f"There is no process {number}.") from None
    library = settings.native_guest
    if not _is_loaded(mapped, library):
        raise UsageError(
            f"Process {number} ({program.name}) was not started with this recorder: start it with"
            f" {settings.command} exec --recordable -- {program.name}"
        )
    fields = dict(line.split(":", 1) for line in status.splitlines())
    if int(fields.get("Seccomp", "0")) != 0:
        raise UsageError(
            f"Process {number} ({program.name}) restricts its system calls (seccomp), and recording"
            " needs some: record it from its start."
        )
    if not int(fields["SigCgt"], 16) >> (SIGNAL - 1) & 1:
        raise UsageError(
            f"Process {number} ({program.name}) allows no bursts, so it is not recorded."
        )
    if _socket(number) in Path("/proc/net/unix").read_text():
        raise UsageError(f"Process {number} ({program.name}) is being recorded already.")
    target = Target(program, program.name)
    return Process(number, target, [os.fsdecode(it) for it in arguments])


def _named(program: Path, name: str) -> Path:
    """The program by the name that it was started by, as files may have several."""
    named = program.with_name(name)
    return named if named.exists() and named.samefile(program) else program


def _is_loaded(mapped: str, library: Path) -> bool:
    places = {line.split(maxsplit=5)[5] for line in mapped.splitlines() if library.name in line}
    return any(Path(place) == library.resolve() for place in places)


def record_live(
    settings: Settings,
    process: Process,
    seconds: float,
    limits: Limits,
    folder: Path,
    tick: Callable[[], None],
) -> Recording:
    """Records for that time, until the process ends, or until Ctrl-C."""
    refuse_exact(limits)
    consumer = consumer_command(settings, limits, folder)
    consumer[1] = _socket(process.number)
    begin = time.monotonic()
    with listening(consumer, settings.environment, RecordingFailed), suppress(KeyboardInterrupt):
        _request(process, limits.max_object)
        _await(process, folder)
        while time.monotonic() - begin < seconds and _runs(process):
            time.sleep(TICK_SECONDS)
            tick()
    return Recording(Ending(0, 0), tuple(gather_parts(folder)), time.monotonic() - begin)


def _socket(number: int) -> str:
    """The name in the abstract namespace, as in src/recorder/native/engine.cc."""
    return f"@halo-{number:010}"


def _request(process: Process, max_object: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    value = ctypes.c_void_p(REQUEST << 32 | max_object)
    if library.sigqueue(process.number, SIGNAL, value) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise RecordingFailed(f"Process {process.number} cannot be asked: {reason}.")


def _await(process: Process, folder: Path) -> None:
    """Until its first records have come."""
    end = time.monotonic() + ANSWER_SECONDS
    while read_progress(folder / "progress") is None:
        if time.monotonic() > end:
            raise RecordingFailed(
                f"Process {process.number} did not answer: is it being recorded already, or is it"
                " stopped?"
            )
        time.sleep(TICK_SECONDS)


def _runs(process: Process) -> bool:
    return (Path("/proc") / str(process.number)).exists()
