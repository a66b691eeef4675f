"""Runs `halo-predict`, which replays an object trace under plans."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

import msgspec

from halo.base.errors import BadTrace, HaloError, MissingPart
from halo.base.settings import Settings
from halo.record.profile import ObjectTrace
from halo.record.profile.sections.object_trace import check_file
from halo.studies.search.document import LoadedTrace, Predicted
from halo.studies.search.placement import Placement

_BAD_TRACE = 3
_BATCH = 64  # candidates whose results fit into a pipe


@dataclass(frozen=True)
class Sample:
    """About `most` accesses are replayed, in stretches of 65536 from the whole trace.

    `machine` is a file in the recorder's form; None: this machine.
    """

    most: int = 1 << 26
    machine: Path | None = None


class Predictor:
    """A running `halo-predict`, with the trace in memory."""

    def __init__(self, process: subprocess.Popen[bytes], trace: ObjectTrace) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._input: IO[bytes] = process.stdin
        self._output: IO[bytes] = process.stdout
        self._trace = trace
        self.loaded = msgspec.json.decode(self._next_line(), type=LoadedTrace)

    def predict(
        self, placements: Sequence[Placement], advance: Callable[[], object] = lambda: None
    ) -> list[Predicted]:
        """The misses under each of the placements, in their order; calls `advance` after each."""
        found: dict[str, Predicted] = {}
        for first in range(0, len(placements), _BATCH):
            batch = list(enumerate(placements))[first : first + _BATCH]
            self._send(placement.line(str(at), self._trace) for at, placement in batch)
            for _ in batch:
                one = msgspec.json.decode(self._next_line(), type=Predicted)
                found[one.name] = one
                advance()
        return [found[str(at)] for at in range(len(placements))]

    def _send(self, lines: Iterable[str]) -> None:
        """Sends the lines and the empty one that ends a batch."""
        try:
            self._input.write("".join(f"{line}\n" for line in (*lines, "")).encode())
            self._input.flush()
        except BrokenPipeError:
            self._fail()

    def _next_line(self) -> bytes:
        line = self._output.readline()
        if not line.endswith(b"\n"):
            self._fail()
        return line

    def _fail(self) -> NoReturn:
        said = b" ".join((self._process.communicate()[1] or b"").split()).decode().rstrip(".")
        if self._process.returncode == _BAD_TRACE:
            raise BadTrace(f"{self._trace.file}: {said}.")
        raise HaloError(f"halo-predict failed: {said or f'status {self._process.returncode}'}.")


@contextmanager
def predictor(
    settings: Settings, trace: ObjectTrace, sample: Sample, addresses: Path | None = None
) -> Iterator[Predictor]:
    """A predictor on all processors; `BadTrace` if the trace is missing, damaged or another one.

    `addresses` gets the objects' addresses under the first placement: 64-bit words by allocation
    number.
    """
    if not settings.predictor.is_file():
        raise MissingPart(f"halo-predict is not built ({settings.predictor}); run: make build")
    check_file(trace)
    command = [
        str(settings.predictor),
        f"--jobs={len(os.sched_getaffinity(0))}",
        f"--most={sample.most}",
    ]
    if sample.machine is not None:
        command.append(f"--machine={sample.machine}")
    if addresses is not None:
        command.append(f"--addresses={addresses}")
    with subprocess.Popen(
        [*command, trace.file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield Predictor(process, trace)
        finally:
            process.kill()
