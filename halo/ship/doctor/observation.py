"""Runs a program once under the runtime and records the actual symbol bindings of its modules."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from halo.base.errors import CannotRun
from halo.base.files.scratch import scratch_folder
from halo.base.settings import Settings
from halo.binary.process.allocators import preload
from halo.binary.process.target import Target
from halo.measure.runs.process_watch import ProcessWatch, Seen
from halo.plan.runtimes import runtime_of, without_runtimes
from halo.ship.doctor.own_malloc import FAMILY, OPERATORS

GRACE = 2.0  # seconds that the program has to end after SIGTERM
_NAMES = frozenset((*FAMILY, "malloc_usable_size", "reallocarray", *OPERATORS))
_BINDING = re.compile(rb"binding file (.+) \[(\d+)\] to (.+) \[(\d+)\]: \w+ symbol `(\w+)'")


@dataclass(frozen=True)
class Binding:
    """A binding of `symbol` in `module` to `library`; namespaces other than 0 are of dlmopen."""

    module: Path
    namespace: int
    library: Path
    symbol: str


@dataclass(frozen=True)
class Observation:
    """An observed run; `status` is as of subprocess: negative for a signal.

    `runtime` is the library that was preloaded, `stats` is the runtime's report; `work` is the
    processor time by process.
    """

    runtime: Path
    status: int
    bindings: frozenset[Binding]
    stats: dict[str, Any]
    last_words: str
    work: Seen


def observe(
    settings: Settings, target: Target, arguments: Sequence[str], plan: Path | None
) -> Observation:
    """Runs the program with empty input and dropped output; the loader logs every binding."""
    with scratch_folder() as folder:
        runtime = settings.runtime if plan is None else runtime_of(settings.runtime, plan)
        environment = preload(without_runtimes(settings.environment), [runtime])
        environment |= {
            "LD_DEBUG": "bindings",
            "LD_DEBUG_OUTPUT": str(folder / "bindings"),
            "LD_BIND_NOW": "1",
            "HALO_STATS": str(folder / "stats.%p"),
        }
        environment.pop("HALO_PLAN", None)
        if plan is not None:
            environment["HALO_PLAN"] = str(plan.absolute())
        watch = ProcessWatch(os.getpid(), target.path)
        with (folder / "errors").open("wb") as errors, watch:
            child = _start(target, arguments, environment, errors)
            try:
                status = child.wait()
            finally:
                _end(child)
        return Observation(
            runtime,
            status,
            frozenset(_bindings(folder / f"bindings.{child.pid}")),
            _stats(folder / f"stats.{child.pid}"),
            _last_line(folder / "errors"),
            watch.seen,
        )


def _start(
    target: Target, arguments: Sequence[str], environment: dict[str, str], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [target.name, *arguments],
            executable=target.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    except OSError as error:
        raise CannotRun(
            f"{target.name} cannot be started ({error.strerror}); fix that first."
        ) from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends what still runs of the program, such as after an interruption: its process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE)
            return


def _bindings(path: Path) -> Iterator[Binding]:
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            found = _BINDING.search(line)
            if found is not None and found[5].decode("utf-8", "replace") in _NAMES:
                module, library = Path(os.fsdecode(found[1])), Path(os.fsdecode(found[3]))
                yield Binding(module, int(found[2]), library, found[5].decode())


def _stats(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _last_line(path: Path) -> str:
    lines = path.read_text("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
