"""The settings of allocators that a person could try: each is an environment variable.

To add a setting, add a line. `halo run` measures those that the installed library knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

LOADER = Path("/lib64/ld-linux-x86-64.so.2")
"""Has the names of glibc's tunables."""
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


class Needs(Enum):
    """When a setting is tried."""

    HUGE_PAGES = "where the kernel has transparent huge pages"
    THREADS = "for programs that compute in several threads"


@dataclass(frozen=True)
class Setting:
    """A setting of one kind of allocator, `NAME=VALUE`.

    `known_by` is a text in the library of every version that knows the setting.
    """

    name: str
    kind: str
    assignment: str
    known_by: str
    needs: Needs

    @property
    def variable(self) -> str:
        return self.assignment.partition("=")[0]

    @property
    def variables(self) -> Mapping[str, str]:
        return {self.variable: self.assignment.partition("=")[2]}


_HUGE, _THREADS = Needs.HUGE_PAGES, Needs.THREADS
_TUNABLES = "GLIBC_TUNABLES=glibc.malloc."
_CACHE = "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES"
_THREAD = "MALLOC_CONF=background_thread:true"
_META = "MALLOC_CONF=thp:always,metadata_thp:always"
# fmt: off
SETTINGS = (
    # Cost memory, and time where a program uses little of each huge page.
    Setting("huge-pages", "glibc", f"{_TUNABLES}hugetlb=1", "malloc.hugetlb", _HUGE),
    Setting("huge-pages", "jemalloc", _META, "opt.metadata_thp", _HUGE),
    Setting("huge-pages", "mimalloc", "MIMALLOC_LARGE_OS_PAGES=1", "large_os_pages", _HUGE),
    # A thread more.
    Setting("background", "jemalloc", _THREAD, "opt.background_thread", _THREADS),
    # Memory in the caches of threads: 256 MiB instead of 32.
    Setting("large-caches", "tcmalloc", f"{_CACHE}=268435456", _CACHE, _THREADS),
)
# fmt: on

# A text that only the libraries of that kind have.
_KINDS: Mapping[str, bytes] = {
    "jemalloc": b"\0sdallocx\0",
    "mimalloc": b"\0mi_malloc\0",
    "tcmalloc": b"\0tc_malloc\0",
}


def kind_of(library: Path | None) -> str:
    """The kind of an allocator's library, such as `jemalloc`; empty if it is another one."""
    if library is None:
        return "glibc"
    content = _content(library)
    return next((kind for kind, text in _KINDS.items() if text in content), "")


def known_settings(library: Path | None) -> list[Setting]:
    """The settings that this library knows; with None, glibc."""
    kind, content = kind_of(library), _content(library or LOADER)
    return [it for it in SETTINGS if it.kind == kind and it.known_by.encode() in content]


def setting_of(library: str, name: str) -> Setting | None:
    """The setting of that name of the kind of allocator that a library's name tells."""
    known = (it for it in SETTINGS if it.name == name and it.kind in library)
    return next(known, None)


def unknown_settings(library: Path | None) -> list[Setting]:
    """The settings for libraries of this kind that this one does not know."""
    kind, known = kind_of(library), known_settings(library)
    return [it for it in SETTINGS if it.kind == kind and it not in known]


def has_huge_pages() -> bool:
    """Whether a program gets huge pages if it asks for them."""
    try:
        return "[never]" not in HUGE_PAGES.read_text()
    except OSError:
        return False


@cache
def _content(library: Path) -> bytes:
    try:
        return library.read_bytes()
    except OSError:
        return b""
