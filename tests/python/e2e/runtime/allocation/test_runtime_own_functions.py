"""The functions that allocators have beside malloc's family, on blocks of groups and on others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from support.planned import Run, make_plan, run_planned
from support.programs.interface import RUNTIME, build, library_of, preloads

ALLOCATORS = ("jemalloc",)
PRELOADED: tuple[str, ...] = ()
LINKED = ("-DLINKED", "-Wl,-z,now")
LAZY = ("-DLINKED", "-no-pie", "-Wl,-z,lazy")
# What binds the calls of the allocator's functions, and how.
BINDINGS = {"preloaded": PRELOADED, "linked": LINKED, "lazy": LAZY}


@dataclass(frozen=True)
class OwnFunctions:
    """A program that calls an allocator's own functions, and the library that it opens for that."""

    allocator: str
    folder: Path

    def program(self, binding: str) -> Path:
        flags = list(BINDINGS[binding])
        if flags:
            flags.append(f"-Wl,{library_of(self.allocator)}")
        return build(self.folder, f"own_{self.allocator}.c", *flags, name=f"prog-{binding}")

    def opened(self) -> Path:
        flags = ("-DLIBRARY", "-shared", "-fPIC")
        return build(self.folder, f"own_{self.allocator}.c", *flags, name="libown.so")

    def ways(self) -> dict[str, list[str]]:
        return {
            "direct": ["direct"],
            "pointer": ["pointer"],
            "default": ["default"],
            "handle": ["handle", str(library_of(self.allocator))],
            "library": ["library", str(self.opened())],
        }

    def run(self, program: Path, plan: Path, way: list[str], preloaded: bool) -> Run:
        library = library_of(self.allocator) if preloaded else None
        return run_planned(
            [str(program), *way], plan, env={"LD_PRELOAD": preloads(RUNTIME, library)}
        )


def check(run: Run) -> None:
    assert (run.status, run.stdout) == (0, "fine\n"), run.stderr
    assert sum(run.allocations) > 20000, run.stats
    # What is left: the C library's buffers, and what a thread and dlopen keep.
    assert sum(group["live_bytes"] for group in run.stats["groups"]) < 32768


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_own_functions_serve_blocks_of_groups(tmp_path: Path, allocator: str, binding: str) -> None:
    """However the program reaches them. Every block that they free returns to its group."""
    own = OwnFunctions(allocator, tmp_path)
    program = own.program(binding)
    plan = make_plan(tmp_path, [str(program), "free"], "everything")
    for way in own.ways().values():
        check(own.run(program, plan, way, preloaded=binding == "preloaded"))
