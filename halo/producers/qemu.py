"""The emulator: records any program, as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from halo.recording import Limits, Recording, record
from halo.settings import Settings
from halo.target import Target


class QemuProducer:
    name = "qemu"
    summary = "any program, under emulation"

    def record(
        self,
        settings: Settings,
        target: Target,
        arguments: Sequence[str],
        limits: Limits,
        folder: Path,
        tick: Callable[[], None],
    ) -> Recording:
        return record(settings, target, arguments, limits, folder, tick)

    def nothing(self, target: Target) -> str:
        return "check that it runs to its end, and the recorder with: halo doctor"
