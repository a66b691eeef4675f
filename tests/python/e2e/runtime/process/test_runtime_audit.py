"""Programs that are audited by the loader, which has a second C library for the auditors.

Row 26 of the checklist of what breaks preloaded allocators.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from support.planned import RUNTIME, run_planned
from support.programs.life import (
    compile_life,
    library,
    plan_of_each_context,
    program,
    run_life,
)

PROGRAMS = ("namespaces", "handover", "reopening", "early_fork")


def arguments_of(name: str) -> list[str]:
    if name == "namespaces":
        return [str(library("sites")), str(RUNTIME)]
    if name == "reopening":
        sizes = (1200, 2000)
        return [*(str(library(f"twin{n}", "twin.c", f"-DFRAME={n}")) for n in sizes), "40"]
    return ["ended"] if name == "handover" else []


@cache
def auditor(*flags: str) -> Path:
    return library(
        "_".join(["audit", *(flag.strip("-D").lower() for flag in flags)]), "audit.c", *flags
    )


@cache
def lazily_bound(name: str) -> Path:
    """The program and its library of sites call through the loader until a function is bound."""
    folder = program(name).parent / "lazy"
    folder.mkdir(exist_ok=True)
    lazy = "-Wl,-z,lazy"
    shared = ("-shared", "-fPIC", "-Wl,-soname,libsites.so", lazy)
    sites = compile_life("sites.c", "lazy/libsites.so", *shared)
    return compile_life(f"{name}.c", f"lazy/{name}", str(sites), f"-Wl,-rpath,{folder}", lazy)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_audited_program_is_grouped_as_before(name: str) -> None:
    plain = run_life(program(name), *arguments_of(name))
    run = run_life(program(name), *arguments_of(name), env={"LD_AUDIT": str(auditor())})
    assert (run.status, run.stdout) == (0, plain.stdout), run.stderr
    assert "grouped" in run.stdout and sum(run.allocations) > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_auditor_sees_each_call_of_malloc_and_free(name: str, tmp_path: Path) -> None:
    """Each call comes from a frame of the loader then: no context is known, yet blocks of pools for
    any caller are given out and taken back."""
    command = [str(lazily_bound(name)), *arguments_of(name)]
    audited = {"LD_AUDIT": str(auditor("-DSEES_CALLS"))}
    plan = tmp_path / "any.plan"
    write_plan(drawing_plan([PlanGroup(False, 0)] * 4, 4096, 0, None), plan)
    plain = run_planned(command, plan)
    run = run_planned(command, plan, env=audited)
    assert (run.status, run.stdout) == (0, plain.stdout), run.stderr
    assert "grouped" in run.stdout and min(run.allocations) > 0
    training = [str(lazily_bound("train"))]
    walking = plan_of_each_context(tmp_path, training, "--option", "any_program=true")
    assert run_planned(command, walking, env=audited).status in {0, 1}, run.stderr
