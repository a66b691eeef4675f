"""Programs that use the allocation interface, recorded and run under plans."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from halo.binary.process.allocators import find_allocator
from halo.plan import Plan, read_plan, write_plan
from halo.plan.runtimes import runtime_of
from support.command import REPOSITORY
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned

SOURCES = REPOSITORY / "tests" / "programs" / "interface"
FLAGS = ("-pthread", "-fno-builtin", f"-I{SOURCES}")
ALLOCATORS = ("glibc", "jemalloc", "mimalloc", "tcmalloc")
TUNABLES = {
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
    ":glibc.malloc.mmap_threshold=5000"
}


@dataclass(frozen=True)
class Recorded:
    """A program and the plan that its recording led to."""

    program: Path
    plan: Path

    def under(
        self,
        *libraries: Path | None,
        arguments: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """A run under the plan, with these libraries after the runtime."""
        run = run_planned(
            [str(self.program), *arguments],
            self.plan,
            env={"LD_PRELOAD": preloads(runtime_of(RUNTIME, self.plan), *libraries), **(env or {})},
        )
        return blame(run, *libraries)

    def changed(self, name: str, change: Callable[[Plan], Plan]) -> Recorded:
        path = self.plan.with_name(f"{name}.plan")
        write_plan(change(read_plan(self.plan)), path)
        return Recorded(self.program, path)


def preloads(*libraries: Path | None) -> str:
    return ":".join(str(library) for library in libraries if library is not None)


def library_of(allocator: str) -> Path | None:
    return find_allocator(allocator).library


def blame(run: Run, *libraries: Path | None) -> Run:
    """The run; skips the test where it crashed over an allocator that crashes without us, too, as
    mimalloc 3.0.1 does."""
    for library in libraries:
        if run.status == -signal.SIGSEGV and breaks_by_itself(library):
            pytest.skip(f"{library} crashes without halo, too")
    return run


@cache
def breaks_by_itself(library: Path | None) -> bool:
    if library is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), "cross.cc")
        done = subprocess.run(
            [program, "here"],
            env={**os.environ, "LD_PRELOAD": str(library)},
            capture_output=True,
            check=False,
        )
    return done.returncode == -signal.SIGSEGV


def build(folder: Path, source: str, *flags: str, name: str = "") -> Path:
    text = (SOURCES / source).read_text()
    return compile_program(folder, text, *FLAGS, *flags, name=name or Path(source).stem)


def record(folder: Path, source: str, strategy: str, *arguments: str) -> Recorded:
    program = build(folder, source)
    options = ("--option", "coverage=1") if strategy == "per-site" else ()
    return Recorded(program, make_plan(folder, [str(program), *arguments], strategy, *options))


def preload_library(folder: Path, source: str, *flags: str) -> Path:
    return build(folder, source, "-shared", "-fPIC", *flags, name=f"{Path(source).stem}.so")


def output_without_us(
    program: Path, *arguments: str, allocator: str = "glibc"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments],
        env={**os.environ, "LD_PRELOAD": preloads(library_of(allocator))},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def matching_nothing(plan: Plan) -> Plan:
    """The runtime is active, but no return address is where the plan says."""
    root, *others = plan.states
    return replace(
        plan, states=(root, *(state._replace(offset=state.offset + 1) for state in others))
    )


# Makers whose every block of groupable size is allocated at a call site of their own.
DIRECT = [
    "make_malloc",
    "make_calloc",
    "make_calloc_items",
    "make_realloc",
    "make_reallocarray",
    "make_new",
    "make_new_array",
    "make_new_nothrow",
    "make_new_array_nothrow",
]


def made_of(run: Run) -> dict[str, int]:
    """Blocks of groupable size, by maker, as the program counted them."""
    *lines, last = run.stdout.splitlines()
    assert last == "fine", run.stderr
    return {name: int(count) for name, count in map(str.split, lines)}
