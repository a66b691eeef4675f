"""Finds QEMU's user-mode emulator and checks that it can load the recorder's plugin."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

from halo.errors import MissingPart
from halo.settings import Settings

OLDEST = (7, 0)
INSTALL = "install Debian's with: apt-get install qemu-user"


@dataclass(frozen=True)
class Qemu:
    """An installed emulator that supports plugins."""

    path: str
    version: str


def find_qemu(settings: Settings) -> Qemu:
    """The emulator to record with; raises `MissingPart` with the problem and the remedy."""
    path = shutil.which(settings.qemu, path=settings.environment.get("PATH"))
    if path is None:
        raise MissingPart(f"{settings.qemu} is not installed, and engine qemu needs it; {INSTALL}")
    version = _version(path)
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        raise MissingPart(
            f"{path} is version {version}, too old to load the recorder's plugin (7.0 is the"
            f" minimum); {INSTALL}"
        )
    if "-plugin" not in _output(path, "-h"):
        raise MissingPart(
            f"{path} was built without support for plugins; set HALO_QEMU to one that has it"
        )
    return Qemu(path, version)


def _version(path: str) -> str:
    found = re.search(r"version (\d+\.\d+(?:\.\d+)*)", _output(path, "--version"))
    if found is None:
        raise MissingPart(f"{path} does not report a version, so it is not QEMU; {INSTALL}")
    return found.group(1)


def _output(path: str, option: str) -> str:
    try:
        done = subprocess.run(
            [path, option], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingPart(f"{path} cannot be run ({error}); {INSTALL}") from error
    return done.stdout + done.stderr
