"""Describes the machine of a measurement: processor, memory, kernel, huge pages, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

import halo
from halo.base.errors import MissingPart
from halo.base.schema.results import HugePages, Machine
from halo.binary.process.allocators import KNOWN, Allocator, find_allocator

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")
BUSES = Path("/sys/bus")
BALLOON = "0x0005"  # the kind of device by which a host reclaims memory (virtio 1.3, section 5.5)
REPORTING = 5  # the bit of its features for free page reporting
RECLAIMED = 3.0  # seconds after which a host has reclaimed freed memory; it begins after two


def describe_machine() -> Machine:
    """The properties of the machine that affect results, for results.json."""
    return Machine(
        processor=processor(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=platform.release(),
        system=system_name(),
        huge_pages=HugePages(huge_page_setting("enabled"), huge_page_setting("defrag")),
        load_average=os.getloadavg(),
        versions=versions(),
    )


@cache
def cooldown() -> float:
    """Seconds of the cool-down on this machine.

    The host of a virtual machine reclaims huge pages that a run has freed. Before that, the next
    run would find them still mapped, and be faster than a normal one.
    """
    return RECLAIMED if reclaims_freed_memory(BUSES) else 0.0


def reclaims_freed_memory(buses: Path) -> bool:
    """Whether a host learns which pages are free, from virtio's balloon or that of Hyper-V.

    It is supposed to if the devices cannot be seen, as in some containers.
    """
    if not buses.is_dir():
        return True
    for device in (buses / "virtio/devices").glob("*"):
        is_balloon = _text(device / "device").strip() == BALLOON
        if is_balloon and _text(device / "features")[REPORTING : REPORTING + 1] == "1":
            return True
    return (buses / "vmbus/drivers/hv_balloon").exists()


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


def versions() -> dict[str, str]:
    """halo, Python, Valgrind, and the allocators' Debian packages."""
    return {
        "halo": halo.__version__,
        "python": platform.python_version(),
        "valgrind": package_version("valgrind"),
        **{name: _known_version(name) for name in KNOWN},
    }


def _known_version(name: str) -> str:
    try:
        return allocator_version(find_allocator(name))
    except MissingPart:
        return "unknown"


def allocator_version(allocator: Allocator) -> str:
    """The version of the Debian package of its library; `unknown` if there is none."""
    if allocator.library is None:
        return package_version("libc6")
    owner = _ask_dpkg("--search", str(allocator.library))
    return package_version(owner.partition(":")[0]) if owner else "unknown"


def package_version(package: str) -> str:
    """The installed version of a Debian package; `unknown` if it or dpkg is missing."""
    return _ask_dpkg("--show", "--showformat=${Version}", package) or "unknown"


def _ask_dpkg(*words: str) -> str:
    """The output of dpkg-query; empty if dpkg is missing or fails."""
    try:
        done = subprocess.run(["dpkg-query", *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
