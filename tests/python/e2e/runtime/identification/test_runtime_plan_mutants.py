"""A real program under plans whose checksum is right and whose content is not.

Each mutant is refused with one sentence, or the program gives what it gives without the runtime.
HALO_MUTANTS asks for more of them than a test run has time for, HALO_MUTANTS_SEED for others
(scripts/fuzz.sh mutants, docs/fuzzing.md).
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from halo.plan import PlanGroup, drawing_plan, write_plan
from halo.plan.runtimes import runtime_of
from support.command import REPOSITORY
from support.plan_mutants import mutants
from support.planned import RUNTIME, compile_program, make_plan
from support.programs.life import plan_of_each_context

SOURCE = REPOSITORY / "tests" / "programs" / "mutants" / "shapes.c"
COUNT = int(os.environ.get("HALO_MUTANTS", "100"))
SEED = int(os.environ.get("HALO_MUTANTS_SEED", "1"))
KEPT = os.environ.get("HALO_MUTANTS_KEPT")
SENTENCE = re.compile(r"(halo: the [ -~]+; every allocation is forwarded\n)?")
LONGEST = 60  # seconds; a run of some milliseconds that takes longer hangs
KINDS = ("each context", "dense", "selectors", "random pools")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mutants")
    return compile_program(folder, SOURCE.read_text(), "-pthread", name="shapes")


def plan_of(kind: str, program: Path, folder: Path) -> Path:
    command = [str(program)]
    if kind == "each context":
        return plan_of_each_context(folder, command)
    if kind == "selectors":
        return plan_of_each_context(folder, command, "--identification", "selectors")
    if kind == "dense":
        return make_plan(folder, command, "dense")
    path = folder / "random.plan"
    write_plan(drawing_plan([PlanGroup(False, 0, True)] * 4, 4096, 0, None), path)
    return path


def run_under(program: Path, plan: Path, runtime: Path) -> tuple[str, str]:
    """What is wrong with a run under the plan (empty if nothing is), and what was said of it."""
    variables = {"LD_PRELOAD": str(runtime), "HALO_PLAN": str(plan)}
    try:
        run = subprocess.run(
            [program],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return "hangs", ""
    if run.returncode != 0:
        return f"status {run.returncode}", run.stderr
    if run.stdout != native_output(program):
        return f"another output: {run.stdout}", run.stderr
    return "" if SENTENCE.fullmatch(run.stderr) else "not one sentence", run.stderr


@cache
def native_output(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_plans_are_refused_or_harmless(kind: str, program: Path, tmp_path: Path) -> None:
    whole = plan_of(kind, program, tmp_path)
    runtime = runtime_of(RUNTIME, whole)
    assert run_under(program, whole, runtime) == ("", "")
    problems, refused = [], 0
    plan = tmp_path / "mutant.plan"
    for name, content in islice(mutants(whole.read_bytes(), SEED), COUNT):
        plan.write_bytes(content)
        problem, sentence = run_under(program, plan, runtime)
        refused += sentence != ""
        if problem:
            problems.append(f"{name}: {problem}: {sentence}")
            keep(content, f"{kind}-{name.split(':')[0]}")
    assert not problems
    assert 0 < refused < 0.9 * COUNT  # many are taken for plans


def keep(content: bytes, name: str) -> None:
    """Stores a mutant, to reproduce the failure."""
    if KEPT:
        (Path(KEPT) / f"mutant-{name.replace(' ', '-')}.plan").write_bytes(content)
