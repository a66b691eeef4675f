"""Programs that generate code at run time have blocks at multiples of 16 for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from halo.record.profile import GENERATED_CODE, read_profile
from support.command import REPOSITORY, halo
from support.planned import compile_program, make_plan, run_planned

SOURCE = (REPOSITORY / "tests/programs/alignment/generated.c").read_text()
# Engines cannot tell a private file from a library, and do not execute shared memory segments.
RECORDED = ("map", "protect", "key", "shared")
WAYS = (*RECORDED, "file", "segment")
# What identifies the objects: nothing, the walk, a draw, call sites.
STRATEGIES = {
    "everything": (),
    "dense": (),
    "random-pools": (),
    "halo": ("--identification", "selectors"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("generated"), SOURCE)


@pytest.fixture(scope="module", params=STRATEGIES)
def plan(program: Path, request: pytest.FixtureRequest, tmp_path_factory: object) -> Path:
    """Of a run that generates no code."""
    folder = program.parent / request.param
    folder.mkdir()
    return make_plan(folder, [str(program), "none"], request.param, *STRATEGIES[request.param])


def misaligned(program: Path, plan: Path, way: str) -> list[int]:
    run = run_planned([str(program), way], plan)
    assert run.status == 0
    return [int(count) for count in run.stdout.split()]


@pytest.mark.parametrize("way", WAYS)
def test_code_generated_later_finds_aligned_objects(program: Path, plan: Path, way: str) -> None:
    before, after = misaligned(program, plan, way)
    assert before > 500 and after == 0


def test_without_generated_code_objects_are_dense(program: Path, plan: Path) -> None:
    assert min(misaligned(program, plan, "none")) > 500


@pytest.mark.parametrize("engine", ["native", "valgrind"])
def test_recorded_generated_code_aligns_all_objects(
    program: Path, tmp_path: Path, engine: str
) -> None:
    """The engine records it, and the plan says so; objects from before the code count as well."""
    for way in RECORDED:
        profile, plan = tmp_path / f"{way}.profile", tmp_path / f"{way}.plan"
        command = ("record", "--engine", engine, "-o", str(profile), "--", str(program), way)
        assert halo(*command).status == 0
        assert GENERATED_CODE.of(read_profile(profile))
        for strategy, options in STRATEGIES.items():
            arguments = ("--strategy", strategy, *options, "-v", "-o", str(plan))
            made = halo("plan", str(profile), *arguments).stdout
            assert "16 bytes: " in made
            if strategy == "everything":
                assert "16 bytes: prog generates code at run time" in made
            assert misaligned(program, plan, way) == [0, 0]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (
            ["luajit", "-e", "local s=0 for i=1,1e6 do s=s+#tostring(i) end print(s)"],
            "5888896\n",
        ),
        (["node", "-e", "let s=0;for(let i=1;i<1e5;i++)s+=[i].length;console.log(s)"], "99999\n"),
    ],
)
def test_compilers_at_run_time_work_in_one_pool(
    command: list[str], answer: str, tmp_path: Path
) -> None:
    plan = make_plan(tmp_path, command, "everything")
    run = run_planned(command, plan)
    assert (run.status, run.stdout) == (0, answer)


@pytest.mark.parametrize("engine", ["native", "valgrind"])
def test_a_recording_without_generated_code_says_nothing(
    program: Path, tmp_path: Path, engine: str
) -> None:
    profile = tmp_path / "found.profile"
    command = ("record", "--engine", engine, "-o", str(profile), "--", str(program), "none")
    assert halo(*command).status == 0
    assert GENERATED_CODE.of(read_profile(profile)) is None
