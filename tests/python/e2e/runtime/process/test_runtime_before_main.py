"""Allocations before any constructor has run, and inside dlsym: rows 1, 2 and 14 of what breaks
preloaded allocators.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.programs.interface import ALLOCATORS, Recorded, library_of, preload_library, record

EARLY = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "free",
    "__libc_free",
    "usable_size",
    "newlocale",
    "dlsym",
    "free of another's",
    "realloc of another's",
    "reallocarray of another's",
    "__libc_realloc of another's",
    "usable_size of another's",
]


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("early"), "early.c", "per-site", "malloc", "20")


@pytest.mark.parametrize("action", EARLY)
def test_before_any_constructor(early: Recorded, action: str) -> None:
    """Rows 1, 2: from preinit_array and constructors; the blocks are grown and freed in main."""
    run = early.under(arguments=(action, "1000"))
    assert (run.status, run.stdout) == (0, "0\n")
    assert max(run.allocations) == 1000


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_before_any_constructor_of_the_next_allocator(early: Recorded, allocator: str) -> None:
    """Rows 1, 2, 14: it is found by a bad dlsym, by a way to free, or by a plain request."""
    for action in ("dlsym", "free", "__libc_free", "calloc"):
        run = early.under(library_of(allocator), arguments=(action, "1000"))
        assert (run.status, run.stdout) == (0, "0\n")
        assert max(run.allocations) == 1000


@pytest.mark.parametrize("allocator", ALLOCATORS)
@pytest.mark.parametrize("size", [1, 40, 16384])
def test_a_dlsym_that_allocates(early: Recorded, tmp_path: Path, allocator: str, size: int) -> None:
    """Row 1: the runtime's first memory survives free, realloc and malloc_usable_size.

    With the largest size it is used up long before the next allocator is found.
    """
    shim = preload_library(tmp_path, "allocating_dlsym.c", f"-DBYTES={size}")
    run = early.under(shim, library_of(allocator), arguments=("malloc", "1000"))
    assert run.status == 0, run.stderr
    assert int(run.stdout) >= (1 if size > 1000 else 40)
    assert max(run.allocations) == 1000


def test_a_dlsym_that_frees_what_it_did_not_allocate_there(early: Recorded, tmp_path: Path) -> None:
    """Row 2: blocks of the next allocator on every call, before its free is known."""
    shim = preload_library(tmp_path, "allocating_dlsym.c", "-DFREES_OTHERS")
    run = early.under(shim, arguments=("malloc", "1000"))
    assert run.status == 0 and int(run.stdout) > 0, run.stderr
    assert max(run.allocations) == 1000
