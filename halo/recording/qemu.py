"""The QEMU engine: records any unmodified program under emulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from halo.errors import UsageError
from halo.recording.producer import Command, Job, PlainProducer, check_built
from halo.recording.qemu_binary import find_qemu
from halo.settings import Settings


class QemuProducer(PlainProducer):
    name = "qemu"
    summary = "any program, exactly, several times slower"
    slowdown = 30
    start_seconds = 0.05

    def parts(self, settings: Settings) -> Sequence[Path]:
        return settings.recorder, settings.guest

    def check(self, settings: Settings) -> None:
        find_qemu(settings)
        check_built(self.parts(settings))

    def mark(self, settings: Settings) -> str:
        return settings.recorder.name

    @contextmanager
    def session(self, settings: Settings, job: Job, folder: Path) -> Iterator[Command]:
        arguments = emulator_arguments(settings, job, folder)
        # QEMU itself runs natively: the user's LD_PRELOAD is for the program inside it.
        environment = {k: v for k, v in settings.environment.items() if k != "LD_PRELOAD"}
        yield Command(Path(arguments[0]), arguments, environment)


def emulator_arguments(settings: Settings, job: Job, folder: Path) -> list[str]:
    """The emulator's command line; all paths in it are under `folder`."""
    emulator = find_qemu(settings).path
    for part in (settings.recorder, settings.guest):
        link = folder / part.name
        if not link.is_symlink():
            link.symlink_to(part)
    users = settings.environment.get("LD_PRELOAD", "")
    if "," in users:
        raise UsageError(
            "LD_PRELOAD holds a comma, which QEMU cannot pass on; link that library to another"
            " path first."
        )
    ours = str(folder / settings.guest.name) if job.guest else ""
    preload = ":".join(filter(None, [ours, users]))
    plugin = [
        str(folder / settings.recorder.name),
        f"out={folder / 'part'}",
        f"progress={folder / 'progress'}",
        *job.limits.arguments(folder),
    ]
    return [
        emulator,
        *("-cpu", "max"),
        *("-0", job.target.name),
        *("-E", f"LD_PRELOAD={preload}"),
        *("-plugin", ",".join(plugin)),
        str(job.target.path),
        *job.arguments,
    ]
