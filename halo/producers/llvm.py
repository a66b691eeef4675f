"""The compiler: records a program that halo-cc or halo-c++ has built, at compiled speed."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from halo.errors import BadTrace, HaloError
from halo.foreground import run_in_foreground
from halo.recording import Limits, Recording
from halo.settings import Settings
from halo.target import Target
from halo.tracing.reader import BAD_TRACE, check_reader, check_there
from halo.tracing.running import VARIABLE, check_instrumented


class LlvmProducer:
    name = "llvm"
    summary = "a program built with halo-cc or halo-c++, at compiled speed"

    def record(
        self,
        settings: Settings,
        target: Target,
        arguments: Sequence[str],
        limits: Limits,
        folder: Path,
        tick: Callable[[], None],
    ) -> Recording:
        check_reader(settings)
        check_instrumented(target)
        socket = folder / "traces"
        start = time.perf_counter()
        with _listening(settings, limits, folder, socket):
            environment = {**settings.environment, VARIABLE: f"socket:{socket}"}
            command = [target.name, *arguments]
            ending = run_in_foreground(str(target.path), command, environment, tick)
        seconds = time.perf_counter() - start
        parts = sorted(folder.glob("part.*.json"), key=os.path.getmtime)
        return Recording(ending, tuple(parts), seconds)

    def nothing(self, target: Target) -> str:
        return f"check that {target.name} was built with halo-cc or halo-c++ (docs/tracing.md)"


@contextmanager
def _listening(settings: Settings, limits: Limits, folder: Path, socket: Path) -> Iterator[None]:
    """halo-trace takes the traces of all processes while this lasts, and is done after it."""
    command = [str(settings.tracer), "profile", *profile_options(limits, folder)]
    with subprocess.Popen(
        [*command, f"--progress={folder / 'progress'}", f"listen:{socket}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What ends the program from the terminal must not end the recording.
        start_new_session=True,
    ) as reader:
        assert reader.stdin is not None and reader.stdout is not None
        assert reader.stderr is not None
        if reader.stdout.readline() != b"ready\n":
            said = reader.stderr.read().decode(errors="replace").strip()
            raise HaloError(f"halo-trace cannot listen for traces: {said}.")
        yield
        reader.stdin.close()
        said = " ".join(reader.stderr.read().decode(errors="replace").split())
        if reader.wait() != 0:
            raise HaloError(f"halo-trace failed: {said.rstrip('.')}.")


@dataclass(frozen=True)
class StoredRecording:
    """What a stored trace gives: its part, and whose trace it is."""

    part: Path
    program: Path
    arguments: tuple[str, ...]


def profile_of(settings: Settings, trace: Path, limits: Limits, folder: Path) -> StoredRecording:
    """A stored trace's part of a profile; BadTrace where there is no trace, or a damaged one."""
    check_reader(settings)
    check_there(trace)
    _call(settings, trace, "profile", *profile_options(limits, folder))
    about = json.loads(_call(settings, trace, "info"))["about"]
    parts = list(folder.glob("part.*.json"))
    if not about or not parts:
        raise BadTrace(f"{trace} is cut short before its first event; record the program again.")
    return StoredRecording(parts[0], Path(about["program"]), tuple(about["args"][1:]))


def _call(settings: Settings, trace: Path, *command: str) -> str:
    done = subprocess.run(
        [str(settings.tracer), *command, str(trace)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = " ".join(done.stderr.split()).rstrip(".")
    if done.returncode == BAD_TRACE:
        raise BadTrace(f"{trace}: {said}.")
    if done.returncode != 0:
        raise HaloError(f"halo-trace failed: {said}.")
    return done.stdout


def profile_options(limits: Limits, folder: Path) -> list[str]:
    """Options of `halo-trace profile`; the parts are to lie in `folder`."""
    return [
        f"--out={folder / 'part'}",
        f"--distance={limits.distance}",
        f"--max-object={limits.max_object}",
        f"--streams={limits.streams}",
        *([f"--machine={limits.machine}"] if limits.machine else []),
    ]
