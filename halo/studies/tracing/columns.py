"""Converts traces to a dataset (docs/trace-columns.md)."""

from __future__ import annotations

import filecmp
import os
import select
import shutil
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from halo.base.errors import BadInput, BadTrace, HaloError
from halo.base.settings import Settings
from halo.binary.process.native_tool import BAD_TRACE
from halo.studies.tracing.blocks import BlockReader, Document
from halo.studies.tracing.reader import check_reader, check_there
from halo.studies.tracing.trace_folder import FolderWriter

STANDARD_INPUT = "-"
LIVE_SECONDS = 1.0  # maximum delay of rows of a trace that is still being written


@dataclass(frozen=True)
class Conversion:
    """The result of a conversion: the number of rows, and remarks as sentences."""

    folder: Path
    accesses: int
    sentences: tuple[str, ...]


def convert(
    settings: Settings,
    traces: Sequence[str],
    folder: Path,
    machine: str = "",
    *,
    keep_damaged: bool = True,
) -> Conversion:
    """Converts traces of one build, one after the other, each up to its end or its damage.

    `machine` is the machine to simulate: `this`, or a file in the simulator's form; empty: none. A
    trace may be `-`, standard input: then files appear while it is read. Events before damage are
    kept unless `keep_damaged` is false; after any other failure no file is kept.
    """
    check_reader(settings)
    check_traces(traces)
    check_free(folder)
    made = not folder.exists()
    kept = False
    try:
        with ThreadPoolExecutor(max_workers=1) as writer:
            target = FolderWriter(folder, writer)
            try:
                for trace in traces:
                    _Reading(settings, trace, target, machine).run()
            except BadTrace as error:
                if not target.accesses:
                    raise
                said = str(error).rstrip(".")
                if not keep_damaged:
                    raise BadTrace(
                        f"{said}; `halo study trace convert` keeps the events before that."
                    ) from error
                target.finish()
                kept = True
                raise BadTrace(f"{said}; the events before that are in {folder}.") from error
            return Conversion(folder, target.accesses, tuple(target.finish()))
    except BaseException:
        # Only here the writer has finished.
        if not kept:
            _remove(folder, made)
        raise


def check_traces(traces: Sequence[str]) -> None:
    """Raises `BadInput` if a trace is missing or given twice, which would count events double."""
    for at, trace in enumerate(traces):
        if trace != STANDARD_INPUT:
            check_there(Path(trace))
        if any(_same(trace, other) for other in traces[:at]):
            raise BadInput(f"{trace} is given twice; its events would count double.")


def _same(one: str, other: str) -> bool:
    """Whether both are one file or copies, as traces of two processes always differ."""
    if STANDARD_INPUT in (one, other) or not (os.path.isfile(one) and os.path.isfile(other)):
        return one == other
    return os.path.samefile(one, other) or filecmp.cmp(one, other, shallow=False)


def check_free(folder: Path) -> None:
    """Raises `BadInput` if the folder exists already, or its parent does not."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} exists already; remove it, or choose another folder.")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise BadInput(f"The directory {parent} does not exist; make it first.")


def _remove(folder: Path, made: bool) -> None:
    """Removes the folder's content, and the folder itself if we created it."""
    shutil.rmtree(folder, ignore_errors=True)
    if not made:
        folder.mkdir(exist_ok=True)


class _Reading:
    """The conversion of one trace by halo-trace."""

    def __init__(self, settings: Settings, trace: str, target: FolderWriter, machine: str) -> None:
        self._trace = trace
        self._target = target
        self._live = trace == STANDARD_INPUT
        self._command = [str(settings.tracer), "columns"]
        self._command += [f"--machine={machine}"] if machine else []
        self._command.append(trace)

    def run(self) -> None:
        with subprocess.Popen(
            self._command,
            stdin=None if self._live else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            try:
                ended = self._read(BlockReader(process.stdout), process.stdout.fileno())
            except BaseException:
                process.kill()
                raise
            said = process.stderr.read().decode(errors="replace")
        self._judge(process.returncode, " ".join(said.split()), ended)

    def _read(self, reader: BlockReader, descriptor: int) -> bool:
        """Reads all blocks; whether the end block was among them."""
        self._target.begin(self._trace)
        last = time.monotonic()
        while True:
            if self._live:
                last = self._flush_in_time(descriptor, last)
            block = reader.next()
            if block is None:
                return False
            self._target.take(block)
            if isinstance(block, Document) and block.kind == "end":
                return True

    def _flush_in_time(self, descriptor: int, last: float) -> float:
        rest = max(last + LIVE_SECONDS - time.monotonic(), 0)
        if rest and select.select([descriptor], [], [], rest)[0]:
            return last
        self._target.flush()
        return time.monotonic()

    def _judge(self, status: int, said: str, ended: bool) -> None:
        name = "standard input" if self._live else self._trace
        if status == 0 and ended:
            return
        if status == BAD_TRACE:
            raise BadTrace(f"{name}: {said.rstrip('.')}.")
        how = f"status {status}" if status >= 0 else f"signal {-status}"
        raise HaloError(f"halo-trace ended with {how} while it read {name}: {said or 'silently'}")


def default_folder(trace: str) -> Path:
    """A folder in the current directory, named after the trace."""
    return Path(f"{os.path.basename(trace)}.columns")
