"""The native engine: records any program at nearly its own speed, by a preloaded library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from mmap import PAGESIZE, PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from pathlib import Path

from halo.base.errors import MissingPart, RecordingFailed, UsageError
from halo.base.settings import Settings
from halo.binary.process.allocators import preload
from halo.record.listener import listening
from halo.record.parts import Limits
from halo.record.producer import CommandLine, PlainProducer, RecordingJob
from halo.record.valgrind import consumer_command


class NativeProducer(PlainProducer):
    name = "native"
    summary = "any program, at nearly its own speed, by bursts of accesses"
    records_everything = False
    slowdown = 1
    start_seconds = 0.05

    def parts(self, settings: Settings) -> Sequence[Path]:
        return settings.native_guest, settings.consumer

    def check(self, settings: Settings) -> None:
        super().check(settings)
        try:
            mmap(-1, PAGESIZE, prot=PROT_READ | PROT_WRITE | PROT_EXEC).close()
        except OSError as error:
            raise MissingPart(
                "The engine native translates code, and memory for that is refused here"
                f" ({error.strerror})"
            ) from error

    @contextmanager
    def session(self, settings: Settings, job: RecordingJob, folder: Path) -> Iterator[CommandLine]:
        refuse_exact(job.limits)
        consumer = consumer_command(settings, job.limits, folder)
        with listening(consumer, settings.environment, RecordingFailed):
            arguments = [job.target.name, *job.arguments]
            environment = recorded_environment(settings, job.limits, folder)
            yield CommandLine(job.target.path, arguments, environment)


def refuse_exact(limits: Limits) -> None:
    if limits.need_everything:
        raise UsageError(
            "The engine native records a part of the accesses, and this needs all of them: use"
            " --engine valgrind."
        )


def recorded_environment(settings: Settings, limits: Limits, folder: Path) -> Mapping[str, str]:
    """The program's environment; the library precedes the user's LD_PRELOAD."""
    return {
        **preload(settings.environment, [settings.native_guest]),
        "HALO_NATIVE_SOCKET": str(folder / "channels"),
        "HALO_NATIVE_MAX_OBJECT": str(limits.max_object),
    }
