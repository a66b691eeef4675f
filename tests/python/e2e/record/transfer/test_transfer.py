"""Plans for another build than the recorded one: the same source, another compiler's decisions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.binary.elf.call_list import calls_among, function_name
from halo.binary.elf.disassembly import instructions_of
from halo.binary.elf.positions import positions_in
from halo.record.profile import read_profile
from halo.record.transfer import carry_over
from support.command import BUILD, REPOSITORY, compile_c, halo

ARGUMENTS = ("5", "40", "1")
# Those that are recorded have a frame for each call, as those to be traced do.
RECORDED: Mapping[str, tuple[str, ...]] = {
    "gcc": ("gcc", "-O2", "-fno-optimize-sibling-calls"),
    # Copies the recursive calls of a loop: many more contexts.
    "clang": ("clang-19", "-O2", "-fno-optimize-sibling-calls"),
}
BUILDS: Mapping[str, tuple[str, ...]] = {
    **RECORDED,
    "jumping": ("gcc", "-O2"),
    "plain": ("gcc", "-O1", "-fno-inline"),
    "frame-pointers": ("gcc", "-O3", "-fno-omit-frame-pointer", "-no-pie"),
}


def build_hospital(folder: Path, name: str, *flags: str) -> Path:
    source = REPOSITORY / "bench" / "programs"
    program = folder / name
    files = [*(source / "hospital").glob("*.c"), source / "common" / "args.c"]
    includes = [f"-I{source / at}" for at in ("", "common", "hospital")]
    command = [*BUILDS[name], *(flags or ("-g",)), *includes, *map(str, files), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Each build of the workload, with its profile beside it."""
    folder = tmp_path_factory.mktemp("hospital")
    programs = {name: build_hospital(folder, name) for name in BUILDS}
    for name in RECORDED:
        program = programs[name]
        done = halo(
            "record", "--exact", "-o", f"{folder}/{name}.profile", "--", str(program), *ARGUMENTS
        )
        assert done.status == 0, done.stderr
    return programs


def served(program: Path, plan: Path, folder: Path) -> list[int]:
    """How many blocks each group gives in a run."""
    stats = folder / "stats.json"
    environment = {
        "LD_PRELOAD": str(BUILD / "lib" / "libhalo.so"),
        "HALO_PLAN": str(plan),
        "HALO_STATS": str(stats),
    }
    subprocess.run([program, *ARGUMENTS], env=environment, check=True, capture_output=True)
    return [group["allocations"] for group in json.loads(stats.read_text())["groups"]]


@pytest.mark.parametrize("target", BUILDS)
@pytest.mark.parametrize("recorded", RECORDED)
def test_a_plan_of_any_build_serves_the_same_objects_in_any_other(
    hospital: Mapping[str, Path], recorded: str, target: str, tmp_path: Path
) -> None:
    """Recorded with gcc's or clang's inlining and unrolling, run with another's."""
    groups = {}
    for name, origin in (("carried", recorded), ("reference", "gcc")):
        profile = hospital[origin].with_suffix(".profile")
        plan = tmp_path / f"{name}.plan"
        done = halo("plan", str(profile), "--for", str(hospital[target]), "-o", str(plan))
        assert (done.status, done.stderr) == (0, "")
        groups[name] = sorted(served(hospital[target], plan, tmp_path))
    assert groups["carried"] == groups["reference"]
    assert len(groups["reference"]) == 2 and min(groups["reference"]) > 100


def test_copies_of_a_call_become_one_context(hospital: Mapping[str, Path]) -> None:
    profile = read_profile(hospital["clang"].with_suffix(".profile"))
    carried = carry_over(profile, hospital["gcc"])
    reference = read_profile(hospital["gcc"].with_suffix(".profile"))
    assert len(profile.contexts) > 20
    assert 5 < len(carried.unified.contexts) <= len(reference.contexts)
    assert not carried.lost
    usage = [(item.allocations, item.accesses) for item in carried.unified.contexts]
    assert sum(n for n, _ in usage) == sum(item.allocations for item in profile.contexts)


def test_the_alignment_is_that_of_the_other_build(
    hospital: Mapping[str, Path], tmp_path: Path
) -> None:
    """What the recorded build's code allows says nothing of another's."""
    reasons = {}
    rigid = build_hospital(tmp_path, "gcc", "-g", "-include", _rigid(tmp_path))
    for program in (hospital["clang"], rigid):
        plan = tmp_path / f"{program.name}.plan"
        profile = str(hospital["gcc"].with_suffix(".profile"))
        assert halo("plan", profile, "--for", str(program), "-o", str(plan)).status == 0
        document = json.loads(Path(f"{plan}.json").read_text())
        reasons[program] = document["alignment"]["reason"]
    assert reasons[hospital["clang"]].startswith("8 bytes: ")
    assert reasons[rigid].startswith("16 bytes: gcc has code that demands 16 bytes")


def _rigid(folder: Path) -> str:
    header = folder / "rigid.h"
    header.write_text(
        "__attribute__((noipa)) static void add(double *a, double *b) {\n"
        '  __asm__ volatile("addpd (%0), %%xmm0; movups %%xmm0, (%1)" :: "r"(a), "r"(b)'
        ' : "xmm0", "memory"); }\n'
        "__attribute__((constructor)) static void call(void) {\n"
        "  static _Alignas(16) double a[2], b[2]; add(a, b); }\n"
    )
    return str(header)


def test_inlined_calls_are_seen_through(hospital: Mapping[str, Path]) -> None:
    path = str(hospital["gcc"])
    calls = [it for it in calls_among(instructions_of(path)) if it.callee == "malloc"]
    chains = positions_in(path, (call.return_address for call in calls)).values()
    names = {tuple(position.function for position in chain) for chain in chains}
    assert ("patient_create", "fall_ill", "village_step") in names


@pytest.mark.parametrize(
    ("symbol", "name"),
    [("f.part.0", "f"), ("f.constprop.1.isra.0", "f"), ("f.cold", "f"), ("_ZN1a1bEv", "_ZN1a1bEv")],
)
def test_parts_of_a_function_have_its_name(symbol: str, name: str) -> None:
    assert function_name(symbol) == name


class TestRefusals:
    """Each is one sentence with a documented status, and leaves no plan."""

    def refusal(self, profile: Path, program: Path, folder: Path, **env: str) -> tuple[int, str]:
        plan = folder / "refused.plan"
        done = halo("plan", str(profile), "--for", str(program), "-o", str(plan), env=env)
        assert not plan.exists() and done.stderr.count("\n") == 1
        return done.status, done.stderr

    def test_no_debug_information(self, hospital: Mapping[str, Path], tmp_path: Path) -> None:
        bare = build_hospital(tmp_path, "gcc", "-g0")
        status, said = self.refusal(hospital["clang"].with_suffix(".profile"), bare, tmp_path)
        assert status == 117 and "no debug information" in said

    def test_another_program(self, hospital: Mapping[str, Path], tmp_path: Path) -> None:
        other = compile_c('int main(void) { __builtin_puts(""); }', tmp_path / "other")
        status, said = self.refusal(hospital["clang"].with_suffix(".profile"), other, tmp_path)
        assert status == 117 and "none of the calls" in said

    def test_the_recorded_build_is_gone(self, hospital: Mapping[str, Path], tmp_path: Path) -> None:
        """Without debug information; with it, the profile has the calls of the recorded build."""
        copy = tmp_path / "copy"
        profile = tmp_path / "copy.profile"
        for flag in ("-g", "-g0"):
            build_hospital(tmp_path, "gcc", flag).rename(copy)
            done = halo("record", "--exact", "-o", str(profile), "--", str(copy), *ARGUMENTS)
            assert done.status == 0
            copy.unlink()
            if flag == "-g":
                carried = halo(
                    *("plan", str(profile), "--for", str(hospital["clang"])),
                    *("-o", str(tmp_path / "carried.plan")),
                )
                assert (carried.status, carried.stderr) == (0, "")
        status, said = self.refusal(profile, hospital["clang"], tmp_path)
        assert status == 117 and "record that build" in said

    def test_no_symbolizer(self, hospital: Mapping[str, Path], tmp_path: Path) -> None:
        profile = hospital["clang"].with_suffix(".profile")
        status, said = self.refusal(profile, hospital["gcc"], tmp_path, PATH=str(tmp_path))
        assert status == 114 and "llvm-19" in said
