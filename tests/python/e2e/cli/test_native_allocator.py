"""Programs that have another allocator than glibc's without halo: tables and documents name it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from halo.binary.process.allocators import GLIBC_ALONE, Allocator, baseline_allocators
from halo.ship.doctor.native import native_allocator
from support.command import compile_c, halo
from support.doctor import ALLOCATES, JEMALLOC, LIBRARIES, library, linked

NAME = JEMALLOC.name
MALLOC = """
#include <stddef.h>
extern void *__libc_malloc(size_t);
void *malloc(size_t size) { return __libc_malloc(size); }
"""
OTHERS = ["mimalloc", "tcmalloc"]
ROW = f"the row {NAME} is in place of glibc's, which was not measured."


@pytest.fixture
def prog(tmp_path: Path) -> Path:
    return compile_c(ALLOCATES, tmp_path / "prog")


@pytest.fixture(params=["LD_PRELOAD", "linked"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def started(folder: Path, kind: str) -> tuple[Path, dict[str, str]]:
    """A program with jemalloc, and the environment in which it has it."""
    if kind == "linked":
        return linked(folder, "prog", ALLOCATES, JEMALLOC), {}
    return compile_c(ALLOCATES, folder / "prog"), {"LD_PRELOAD": f"{JEMALLOC}"}


def test_the_allocator_is_the_first_with_a_malloc(tmp_path: Path, prog: Path) -> None:
    environment = {"PATH": os.defpath}
    assert native_allocator(prog, environment) == GLIBC_ALONE
    assert native_allocator(tmp_path / "none", environment) == GLIBC_ALONE
    named = native_allocator(prog, {**environment, "LD_PRELOAD": f"libm.so.6 {JEMALLOC}"})
    assert (named.name, named.library, named.named) == (NAME, None, True)
    assert named.option == str(JEMALLOC)
    needs = native_allocator(linked(tmp_path, "needs", ALLOCATES, JEMALLOC), environment)
    assert (needs.name, needs.named, needs.option) == (NAME, False, "glibc")
    own = library(tmp_path, "own", MALLOC)
    assert native_allocator(linked(tmp_path, "with", ALLOCATES, own), environment).name == own.name


def test_no_allocator_is_measured_twice() -> None:
    assert [it.name for it in baseline_allocators()] == ["glibc", "jemalloc", *OTHERS]
    own = Allocator(NAME, None, Path(os.path.realpath(JEMALLOC)))
    assert [it.name for it in baseline_allocators(own)] == [NAME, *OTHERS]
    other = Allocator("libown.so", None, LIBRARIES / "libm.so.6")
    assert [it.name for it in baseline_allocators(other)] == ["libown.so", "jemalloc", *OTHERS]


def test_a_probe_names_it(tmp_path: Path, kind: str) -> None:
    program, env = started(tmp_path, kind)
    words = ("probe", "--seconds", "1", "--json", "out.json", "--", str(program))
    outcome = halo(*words, cwd=tmp_path, env=env)
    assert outcome.status in (0, 1, 2), outcome.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert list(document["allocators"]) == [NAME, *OTHERS]
    assert any(ROW in warning for warning in document["warnings"])
    assert "glibc " not in outcome.stdout.replace("\n", " ") and ROW in outcome.stdout


def test_a_measurement_and_its_report_name_it(tmp_path: Path, kind: str) -> None:
    program, env = started(tmp_path, kind)
    measured = ("eval", "baseline", "--trials", "7", "--results", "out", "--", str(program))
    outcome = halo(*measured, cwd=tmp_path, env=env)
    assert outcome.status == 0, outcome.stderr
    assert f"halo: prog: running it under {NAME} first" in outcome.stderr
    by = "LD_PRELOAD names" if kind == "LD_PRELOAD" else "it is linked with"
    assert f"the allocator {NAME}, which {by}: {ROW}" in " ".join(outcome.stdout.split())
    assert f"\n{NAME} " in outcome.stdout and "\nglibc" not in outcome.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert list(results["trials"]["reference"]) == [NAME, *OTHERS]
    assert results["summary"]["native"] == NAME
    assert list(results["summary"]["allocators"]) == [NAME, *OTHERS]
    assert halo("report", "out", "-o", "page.html", cwd=tmp_path).status == 0
    page = (tmp_path / "page.html").read_text()
    assert f"the row {NAME} is in place" in page and f">{NAME}<" in page
    assert halo("plot", "speedup", "out", "-o", "s.svg", cwd=tmp_path).status in (0, 117)


def test_a_plan_over_it_is_run_and_deployed_over_it(tmp_path: Path, kind: str) -> None:
    program, env = started(tmp_path, kind)
    one = ("--", str(program))
    words = ("run", "--trials", "2", "--candidates", "one-pool", "--results", "out", *one, *one)
    outcome = halo(*words, cwd=tmp_path, env=env)
    assert outcome.status == 0, outcome.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["native"] == NAME
    assert all("glibc" not in it["label"] for it in summary["candidates"])
    allocators = {it["allocator"].partition(":")[0] for it in summary["candidates"]}
    assert allocators <= {NAME, *OTHERS}, "with a setting or without"
