"""Names and paths that LD_PRELOAD, systemd, Docker and a shell all read alike."""

from __future__ import annotations

import re
from pathlib import Path

from halo.base.errors import UsageError

_SAFE = r"\w.+@,=~^-"
_UNIT = re.compile(r"[\w:.@\\-]+\.service")
_OTHER_UNIT = re.compile(r".*\.(socket|timer|path|target|mount|slice|scope|device|swap)")


def check_place(place: Path, option: str) -> None:
    """Raises `UsageError` unless this path is absolute and can be in the variables as it is."""
    if not place.is_absolute():
        raise UsageError(f"{option} needs an absolute path, such as /opt/app/halo; {place} is not.")
    if not re.fullmatch(f"[/{_SAFE}]+", str(place)):
        raise UsageError(
            f"The path {place} holds a character that LD_PRELOAD, systemd or a shell reads"
            f" differently, such as a space or a colon; give another one with {option}."
        )


def safe_name(name: str) -> str:
    """The name of a file, with `_` for characters that a place must not have."""
    return re.sub(f"[^{_SAFE}]", "_", name)


def unit_name(given: str) -> str:
    """The service unit of that name; raises `UsageError` if it cannot be one."""
    name = given if given.endswith(".service") else f"{given}.service"
    if not _UNIT.fullmatch(name) or _OTHER_UNIT.fullmatch(given):
        raise UsageError(f"{given} is not a service of systemd; give a name such as app.service.")
    return name
