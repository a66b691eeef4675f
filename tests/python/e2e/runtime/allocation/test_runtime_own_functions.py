"""The functions that allocators have beside malloc's family, on blocks of groups and on others."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from halo.plan import read_plan, write_plan
from support.command import REPOSITORY
from support.planned import RUNTIME, Run, compile_program, make_plan, run_planned
from support.programs.interface import SOURCES, build, library_of, matching_nothing, preloads

ALLOCATORS = ("jemalloc", "mimalloc", "tcmalloc")
# What binds a program's calls of the allocator's functions: weak ones to a preloaded library, or
# those of a program that is linked with it.
BINDINGS = {
    "preloaded": (),
    "linked": ("-DLINKED", "-Wl,-z,now"),
    "lazy": ("-no-pie", "-Wl,-z,lazy"),
}


@dataclass(frozen=True)
class OwnFunctions:
    """A program that calls an allocator's own functions, and its plan that groups everything."""

    allocator: str
    folder: Path

    @property
    def library(self) -> Path:
        found = library_of(self.allocator)
        assert found is not None
        return found

    def build(self, *flags: str, name: str) -> Path:
        return build(self.folder, f"own_{self.allocator}.c", *flags, name=name)

    def program(self, binding: str) -> Path:
        flags = [flag for flag in BINDINGS[binding] if flag != "-DLINKED" or self.has_all]
        linked = (f"-Wl,--no-as-needed,{self.library}",) if binding != "preloaded" else ()
        return self.build(*flags, *linked, name=f"prog-{binding}")

    @property
    def has_all(self) -> bool:
        """Whether the library has every function that the program knows."""
        return self.allocator != "mimalloc"

    def ways(self) -> list[list[str]]:
        """How the program reaches the functions."""
        opened = self.build("-DLIBRARY", "-shared", "-fPIC", name="libown.so")
        return [
            ["direct"],
            ["pointer"],
            ["default"],
            ["handle", str(self.library)],
            ["library", str(opened)],
        ]

    def plan(self, program: Path, strategy: str = "everything", *options: str) -> Path:
        return make_plan(self.folder, [str(program), "free"], strategy, *options)

    def run(self, program: Path, plan: Path, way: list[str]) -> Run:
        preloaded = self.library if "preloaded" in program.name else None
        env = {"LD_PRELOAD": preloads(RUNTIME, preloaded)}
        return run_planned([str(program), *way], plan, env=env)


def check(run: Run) -> None:
    """Every block that was freed has returned to its group."""
    assert (run.status, run.stdout) == (0, "fine\n"), run.stderr
    assert sum(run.allocations) > 10000, run.stats
    # What is left: the C library's buffers, and what a thread and dlopen keep.
    assert sum(group["live_bytes"] for group in run.stats["groups"]) < 32768


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_serve_blocks_of_groups(tmp_path: Path, allocator: str, binding: str) -> None:
    """However the program reaches them."""
    own = OwnFunctions(allocator, tmp_path)
    program = own.program(binding)
    plan = own.plan(program)
    for way in own.ways():
        check(own.run(program, plan, way))


STRATEGIES = {
    "walk": ("per-site", "--option", "coverage=1"),
    "selectors": ("dense", "--identification", "selectors"),
    "random": ("random-pools", "--option", "pools=2"),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_under_every_kind_of_plan(
    tmp_path: Path, allocator: str, strategy: str
) -> None:
    own = OwnFunctions(allocator, tmp_path)
    program = own.program("preloaded")
    check(own.run(program, own.plan(program, *STRATEGIES[strategy]), ["direct"]))
