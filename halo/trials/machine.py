"""Describes the machine of a measurement: processor, memory, kernel, huge pages, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import halo
from halo.allocators import KNOWN
from halo.errors import MissingPart
from halo.qemu import find_qemu
from halo.settings import Settings

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")


def describe_machine(settings: Settings) -> dict[str, Any]:
    """All that a reader of the results needs to judge them."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "system": system_name(),
        "huge_pages": {name: huge_page_setting(name) for name in ("enabled", "defrag")},
        "load_average": list(os.getloadavg()),
        "versions": versions(settings),
    }


def processor() -> str:
    for line in _text(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def system_name() -> str:
    for line in _text(Path("/etc/os-release")).splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def huge_page_setting(name: str) -> str:
    """The word in brackets, for instance `madvise`; `unavailable` without kernel support."""
    text = _text(HUGE_PAGES / name)
    return text.partition("[")[2].partition("]")[0] or "unavailable"


def versions(settings: Settings) -> dict[str, str]:
    """halo, Python, QEMU, and the allocators' Debian packages."""
    try:
        qemu = find_qemu(settings).version
    except MissingPart:
        qemu = "missing"
    return {
        "halo": halo.__version__,
        "python": platform.python_version(),
        "qemu": qemu,
        **{name: package_version(kind.package) for name, kind in KNOWN.items()},
    }


def package_version(package: str) -> str:
    """The installed version of a Debian package; `unknown` where it, or dpkg, is not there."""
    command = ["dpkg-query", "--show", "--showformat=${Version}", package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
