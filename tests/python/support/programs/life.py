"""The programs of tests/programs/life, and the plan of the sites in their library."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from halo.record.profile import read_profile
from support.command import REPOSITORY, halo
from support.planned import Run, make_plan, run_planned

SOURCES = REPOSITORY / "tests" / "programs" / "life"
_BUILT = tempfile.TemporaryDirectory(prefix="halo-life-")
# Every call in the sources is one in the program; none needs the stack that lazy binding takes.
_FLAGS = [
    *("-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,-z,now"),
    *("-fno-builtin", "-fno-inline", "-fno-optimize-sibling-calls"),
]


@cache
def compile_life(source: str, output: str, *flags: str) -> Path:
    """Compiles a file of tests/programs/life."""
    compiler = "g++" if source.endswith(".cc") else "gcc"
    path = Path(_BUILT.name) / output
    subprocess.run([compiler, *_FLAGS, SOURCES / source, "-o", path, *flags], check=True)
    return path


@cache
def library(name: str, source: str = "", *flags: str) -> Path:
    """The shared library `lib{name}.so`."""
    wanted = ("-shared", "-fPIC", f"-Wl,-soname,lib{name}.so", *flags)
    return compile_life(source or f"{name}.c", f"lib{name}.so", *wanted)


@cache
def program(name: str, *libraries: str) -> Path:
    """A program of that name, linked with the planned sites and the libraries given."""
    source = f"{name}.c" if (SOURCES / f"{name}.c").exists() else f"{name}.cc"
    needed = [library(each) for each in ("sites", *libraries)]
    return compile_life(source, name, *map(str, needed), f"-Wl,-rpath,{_BUILT.name}")


@cache
def shared_plan() -> Path:
    """Groups 0, 1 and 2: near_make and its like, left_make, right_make."""
    folder = Path(_BUILT.name)
    groups = folder / "groups.json"
    groups.write_text('{"groups": [[0, 3, 4], [1], [2]]}')
    # The sites are in a library that all the programs share.
    options = ("--file", str(groups), "--option", "any_program=true")
    return make_plan(folder, [str(program("train"))], "from-file", *options)


def plan_of_each_context(folder: Path, command: list[str], *options: str) -> Path:
    """A plan of the command's own, with a group for each context that was accessed."""
    profile, groups, plan = folder / "own.profile", folder / "groups.json", folder / "own.plan"
    recorded = halo("record", "--exact", "-o", str(profile), "--", *command)
    assert recorded.status == 0, recorded.stderr
    contexts = enumerate(read_profile(profile).contexts)
    groups.write_text(json.dumps({"groups": [[at] for at, c in contexts if c.accesses > 0]}))
    wanted = ("--strategy", "from-file", "--file", str(groups), *options)
    planned = halo("plan", str(profile), *wanted, "-o", str(plan))
    assert planned.status == 0, planned.stderr
    return plan


def run_life(path: Path | str, *arguments: str, env: Mapping[str, str] | None = None) -> Run:
    """Runs a program under the shared plan."""
    return run_planned([str(path), *arguments], shared_plan(), env=env)
