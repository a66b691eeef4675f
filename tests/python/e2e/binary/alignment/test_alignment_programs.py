"""Programs that demand alignment where the recorded run did not.

The recording sees a first mode, which touches objects by instructions that take any address; the
run is a second mode with instructions that demand the 16 bytes which malloc promises.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from halo.plan.strategies.registry import STRATEGIES
from support.command import REPOSITORY, halo
from support.planned import run_planned

SOURCES = REPOSITORY / "tests" / "programs" / "alignment"
COMPILERS = {
    "records": ("gcc", "-std=gnu17", "-O2", "records.c"),
    "flat_tables": ("g++", "-std=c++20", "-O2", "flat_tables.cc"),
    "maps": (
        "/usr/bin/rustc",
        "-O",
        "maps.rs",
    ),  # Debian's, whose programs use the C library's malloc
    "arrays": ("gcc", "-std=gnu17", "-O3", "-march=x86-64-v2", "arrays.c"),
    "wide arrays": ("gcc", "-std=gnu17", "-O3", "-march=x86-64-v3", "arrays.c"),
}
# These programs have no conflicts in the first cache, so the strategy conflict groups nothing.
# Their accesses are not kept by object, which search needs.
WITHOUT_CONTEXTS = ("none", "random-pools", "from-file", "conflict", "confine", "search")
BY_CONTEXT = [s.name for s in STRATEGIES if s.name not in WITHOUT_CONTEXTS]


@cache
def processor_flags() -> frozenset[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return frozenset(next(line for line in lines if line.startswith("flags")).split())


# The instructions of -march=x86-64-v3 end the program on an older processor.
PROGRAMS = [name for name in COMPILERS if name != "wide arrays" or "avx2" in processor_flags()]


@pytest.fixture(scope="module", params=PROGRAMS)
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """The program, and the profile of its first mode."""
    folder = tmp_path_factory.mktemp("alignment")
    *compiler, source = COMPILERS[request.param]
    program, profile = folder / source.split(".")[0], folder / "first.profile"
    subprocess.run([*compiler, SOURCES / source, "-o", program], check=True)
    done = halo("record", "--hot-streams", "-o", str(profile), "--", str(program))
    assert done.status == 0, done.stderr
    return program, profile


@pytest.mark.parametrize("strategy", BY_CONTEXT)
def test_the_second_mode_runs_under_plans_of_the_first(
    recorded: tuple[Path, Path], strategy: str, tmp_path: Path
) -> None:
    program, profile = recorded
    plan = tmp_path / "first.plan"
    planned = halo("plan", str(profile), "--strategy", strategy, "-o", str(plan))
    assert planned.status == 0, planned.stderr
    native = subprocess.run([program, "all"], capture_output=True, text=True, check=True)
    run = run_planned([str(program), "all"], plan)
    assert (run.status, run.stdout) == (0, native.stdout), run.stderr
    assert sum(run.allocations) > 0
