"""The findings of `halo doctor -- PROG` without running the program, each on a real file."""

from __future__ import annotations

import os
import resource
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from halo.base.errors import BadPlan, CannotRun, Unsuitable
from halo.base.settings import read_settings
from halo.binary.elf import build_id_of
from halo.binary.process.target import locate_target
from halo.plan import VERDICT_FORWARD, Plan, PlanGroup, PlanModule, State, write_plan
from halo.plan.model import PageLayout
from halo.ship.doctor import Case, Weight, examine_program, plan_fit
from halo.ship.doctor.plan_fit import first_level_way
from support.command import LOADER, compile_c, halo
from support.doctor import (
    ALLOCATES,
    LIBRARIES,
    examine,
    library,
    linked,
    the,
    unusual,
)


def test_an_ordinary_program_gives_no_reason_to_worry(plain: Path) -> None:
    findings = examine(plain)
    assert unusual(findings) == []
    assert the(findings, "suitable").sentence == "halo can place its objects"


@pytest.mark.parametrize("flags", ["-static", "-static-pie"])
def test_a_static_program(tmp_path: Path, flags: str) -> None:
    program = compile_c(ALLOCATES, tmp_path / "prog", flags)
    found = the(examine(program), "suitable")
    assert (found.weight, found.error) == (Weight.REFUSAL, Unsuitable)
    assert "is a static binary" in found.sentence
    assert "link it dynamically" in found.way_out


def privileged(folder: Path, program: Path, kind: str) -> Path:
    copy = folder / kind
    shutil.copy(program, copy)
    if kind == "file capabilities":
        capability = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
        os.setxattr(copy, "security.capability", capability)
    else:
        copy.chmod(0o4755 if kind == "set-user-id" else 0o2755)
    return copy


KINDS = ["set-user-id", "set-group-id"]
if os.geteuid() == 0:  # only root may give capabilities
    KINDS.append("file capabilities")


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_that_ld_preload_does_not_reach(plain: Path, tmp_path: Path, kind: str) -> None:
    found = the(examine(privileged(tmp_path, plain, kind)), "suitable")
    assert found.weight is Weight.REFUSAL
    assert kind in found.sentence and "the loader would ignore halo's library" in found.sentence
    assert "run a copy of it without the privilege" in found.way_out


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("#!/bin/sh -e", "/bin/sh -e"),
        ("#! /usr/bin/env python3", "python3"),
        ("#!/usr/bin/env -S perl -w", "perl -w"),
    ],
)
def test_a_script(tmp_path: Path, line: str, call: str) -> None:
    script = tmp_path / "script"
    script.write_text(f"{line}\n")
    script.chmod(0o755)
    found = the(examine(script, {"PATH": "/usr/bin:/bin"}), "script")
    assert found.weight is Weight.REFUSAL
    assert f"is a script, which {call.split()[0]} executes" in found.sentence
    assert f"(-- {call} {script})" in found.way_out
    assert ("the program that it starts" in found.way_out) == ("sh" in call)


@pytest.mark.parametrize(
    ("program", "arguments", "words"),
    [
        ("env", ["A=1", "ls"], "env only executes another program, ls"),
        ("make", ["all"], "make leaves the work to programs that it starts"),
    ],
)
def test_a_program_that_only_starts_others(program: str, arguments: list[str], words: str) -> None:
    settings = read_settings()
    case = Case(locate_target(program, settings.environment), arguments)
    found = the(list(examine_program(settings, case)), "launcher")
    assert found.weight is Weight.REFUSAL
    assert words in found.sentence


def test_another_machines_program(plain: Path, tmp_path: Path) -> None:
    content = bytearray(plain.read_bytes())
    content[18:20] = struct.pack("<H", 183)
    (tmp_path / "arm").write_bytes(content)
    (tmp_path / "arm").chmod(0o755)
    found = the(examine(tmp_path / "arm"), "suitable")
    assert found.weight is Weight.REFUSAL
    assert "another architecture (aarch64" in found.sentence


def test_a_program_linked_with_musl(tmp_path: Path) -> None:
    program = tmp_path / "prog"
    command = ["musl-gcc", "-x", "c", "-", "-o", str(program)]
    subprocess.run(command, input=ALLOCATES, text=True, check=True)
    found = the(examine(program), "suitable")
    assert found.weight is Weight.REFUSAL
    assert "ld-musl" in found.sentence and "not by glibc's loader" in found.sentence
    assert "a build of it for glibc" in found.way_out


def with_go_note(folder: Path, program: Path) -> Path:
    """The program with the note that Go's linker leaves."""
    content = folder / "note"
    content.write_bytes(struct.pack("<III", 4, 8, 4) + b"Go\0\0" + b"build-id")
    output = folder / f"{program.name}-go"
    section = f".note.go.buildid={content}"
    flags = ".note.go.buildid=alloc,readonly"
    command = ["objcopy", "--add-section", section, "--set-section-flags", flags]
    subprocess.run([*command, program, output], check=True, capture_output=True)
    return output


def test_a_static_program_of_gos(tmp_path: Path) -> None:
    static = compile_c(ALLOCATES, tmp_path / "prog", "-static")
    found = the(examine(with_go_note(tmp_path, static)), "suitable")
    assert found.weight is Weight.REFUSAL
    assert "static Go program" in found.sentence and "never calls malloc" in found.sentence


def test_a_dynamic_program_of_gos(plain: Path, tmp_path: Path) -> None:
    found = the(examine(with_go_note(tmp_path, plain)), "Go")
    assert found.weight is Weight.NOTE
    assert "only its C code calls malloc" in found.sentence


OPENS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
{before}
int main(int argc, char **argv) {{
  char *volatile p = malloc(40);
  free(p);
  void *handle = {call};
  return handle == 0;
}}
"""
DEEP = "dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND)"
WRAPPED = """
static void *open_it(const char *name) { return dlopen(name, RTLD_LAZY | RTLD_DEEPBIND); }
"""


@pytest.mark.parametrize(
    "flags",
    [["-O0"], ["-O2"], ["-O2", "-fno-plt"], ["-O2", "-no-pie"], ["-O2", "-fcf-protection=none"]],
    ids=" ".join,
)
@pytest.mark.parametrize(
    ("before", "call"),
    [("", DEEP), (WRAPPED, "open_it(argv[1])")],
    ids=["call", "tail call"],
)
def test_deep_binding_by_a_constant_flag(
    tmp_path: Path, flags: list[str], before: str, call: str
) -> None:
    program = compile_c(OPENS.format(before=before, call=call), tmp_path / "prog", *flags)
    findings = examine(program)
    assert unusual(findings) == [("RTLD_DEEPBIND", "note")]
    assert "prog opens libraries with RTLD_DEEPBIND" in the(findings, "RTLD_DEEPBIND").sentence


def test_deep_binding_in_a_library(tmp_path: Path) -> None:
    source = f"""
#define _GNU_SOURCE
#include <dlfcn.h>
void *opens(char **argv) {{ return {DEEP}; }}
"""
    program = linked(tmp_path, "prog", ALLOCATES, library(tmp_path, "opens", source))
    assert "libopens.so opens libraries" in the(examine(program), "RTLD_DEEPBIND").sentence


@pytest.mark.parametrize("flags", ["RTLD_NOW | RTLD_GLOBAL", "argc | RTLD_LAZY"])
def test_other_ways_to_open_are_told_apart(tmp_path: Path, flags: str) -> None:
    """What is computed is not seen; the report says so and names the run that sees it."""
    source = OPENS.format(before="", call=f"dlopen(argv[1], {flags})")
    findings = examine(compile_c(source, tmp_path / "prog", "-O2"))
    assert unusual(findings) == []
    found = the(findings, "dlopen")
    assert "called by prog, nowhere with a constant RTLD_DEEPBIND" in found.sentence
    assert "--run" in found.sentence


def test_namespaces(tmp_path: Path) -> None:
    source = OPENS.format(before="", call="dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW)")
    found = the(examine(compile_c(source, tmp_path / "prog")), "dlmopen")
    assert found.weight is Weight.NOTE
    assert "a C library of its own, where halo is not" in found.sentence


def test_audit_libraries(plain: Path, tmp_path: Path) -> None:
    audit = library(tmp_path, "audit", "unsigned la_version(unsigned v) { return v; }")
    asked = compile_c(ALLOCATES, tmp_path / "asked", f"-Wl,--audit={audit}")
    assert (
        "LD_AUDIT asks for an audit"
        in the(examine(plain, {"LD_AUDIT": str(audit)}), "auditing").sentence
    )
    assert "asked asks for an audit" in the(examine(asked), "auditing").sentence


def test_a_limited_address_space(plain: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 45, before[1]))
    try:
        findings = examine(plain)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert unusual(findings) == [("address space", "note")]
    assert f"limited to {1 << 25} MiB" in the(findings, "address space").sentence


def test_static_thread_local_memory_is_counted(plain: Path, tmp_path: Path) -> None:
    source = ALLOCATES.replace("int main", "__thread char room[4096]; int main")
    larger = compile_c(source, tmp_path / "prog")
    amounts = [the(examine(p), "static TLS").sentence.split()[0] for p in (plain, larger)]
    assert int(amounts[1]) - int(amounts[0]) == 4096


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    gone = library(tmp_path, "gone", "int g(void) { return 1; }")
    program = linked(tmp_path, "prog", ALLOCATES, gone)
    gone.unlink()
    found = the(examine(program), "libraries")
    assert (found.weight, found.error) == (Weight.REFUSAL, CannotRun)
    assert "the loader does not find libgone.so" in found.sentence


def test_a_runtime_that_the_loader_does_not_take(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libhalo.so").write_text("no library")
    found = the(examine(plain, build=tmp_path), "preloading")
    assert (found.weight, found.error) == (Weight.REFUSAL, Unsuitable)
    assert "the loader of" in found.sentence and "does not load libhalo.so" in found.sentence


def test_snap_starts_its_programs_in_a_sandbox(plain: Path, tmp_path: Path) -> None:
    shutil.copy(plain, tmp_path / "snap")
    (tmp_path / "browser").symlink_to("snap")
    found = the(examine(tmp_path / "browser"), "launcher")
    assert found.weight is Weight.REFUSAL
    assert "in snap's sandbox" in found.sentence
    assert unusual(examine(tmp_path / "snap")) == []


def test_flatpak_starts_its_programs_in_a_sandbox(tmp_path: Path) -> None:
    script = tmp_path / "org.example.App"
    script.write_text('#!/bin/sh\nexec /usr/bin/flatpak run --branch=stable org.example.App "$@"\n')
    script.chmod(0o755)
    found = the(examine(script), "launcher")
    assert found.weight is Weight.REFUSAL
    assert "in flatpak's sandbox" in found.sentence


def test_the_dynamic_loader(plain: Path) -> None:
    found = the(examine(LOADER, arguments=(str(plain), "7")), "launcher")
    assert found.weight is Weight.REFUSAL
    assert f"only loads another program, {plain}" in found.sentence
    assert found.way_out == f"give that one: -- {plain} 7"


def test_an_app_image(plain: Path, tmp_path: Path) -> None:
    content = bytearray(plain.read_bytes())
    content[8:11] = b"AI\x02"
    image = tmp_path / "App.AppImage"
    image.write_bytes(content)
    image.chmod(0o755)
    found = the(examine(image), "launcher")
    assert "is an AppImage" in found.sentence
    assert "--appimage-extract" in found.way_out


def plan_for(path: Path, *build_ids: str, groups: int = 1) -> Path:
    """A plan that names these modules, without a reviewable form."""
    root = State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0)
    modules = tuple(PlanModule(build_id) for build_id in build_ids)
    write_plan(Plan(modules, (PlanGroup(False, 0),) * groups, (root,), 4096, False), path)
    return path


def test_a_plan_for_the_program(plain: Path, tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "x.plan", build_id_of(plain), "77" * 20)
    findings = examine(plain, plan=plan)
    assert unusual(findings) == []
    assert the(findings, "plan").sentence == "1 of 2 modules that it names are loaded: plain"


def test_a_plan_for_another_program(plain: Path, tmp_path: Path) -> None:
    found = the(examine(plain, plan=plan_for(tmp_path / "x.plan", "77" * 20)), "plan")
    assert (found.weight, found.error) == (Weight.REFUSAL, BadPlan)
    assert "belongs to plain" in found.sentence


def test_a_plan_of_which_only_the_c_library_is_there(plain: Path, tmp_path: Path) -> None:
    libc = build_id_of(LIBRARIES / "libc.so.6")
    found = the(examine(plain, plan=plan_for(tmp_path / "x.plan", libc, "77" * 20)), "plan")
    assert found.weight is Weight.NOTE
    assert "only the C library's" in found.sentence


def test_a_plan_without_groups(plain: Path, tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "x.plan", build_id_of(plain), groups=0)
    assert "nothing will be placed" in the(examine(plain, plan=plan), "plan").sentence


def test_a_plan_for_another_first_cache_is_noted(plain: Path, tmp_path: Path) -> None:
    root = State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0)
    modules = (PlanModule(build_id_of(plain)),)
    for way, notes in ((4096, 0), (32768, 1)):
        groups = (PlanGroup(False, 0, True, PageLayout(starts=1, way_bytes=way)),)
        write_plan(Plan(modules, groups, (root,), 4096, False), tmp_path / "x.plan")
        found = [it for it in examine(plain, plan=tmp_path / "x.plan") if "ways of" in it.sentence]
        assert len(found) == notes
        assert all(it.weight is Weight.NOTE and "32768 bytes" in it.sentence for it in found)


def test_a_masked_way_of_4096_bytes_is_not_exempt(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only blocks that are spread in all slots, the default, suit any machine."""
    monkeypatch.setattr(plan_fit, "first_level_way", lambda: 32768)
    root = State(0, 0, 0, 0, 0, VERDICT_FORWARD, 0, 0)
    modules = (PlanModule(build_id_of(plain)),)
    for layout, notes in ((PageLayout(), 0), (PageLayout(starts=1), 1)):
        groups = (PlanGroup(False, 0, True, layout),)
        write_plan(Plan(modules, groups, (root,), 4096, False), tmp_path / "x.plan")
        found = [it for it in examine(plain, plan=tmp_path / "x.plan") if "ways of" in it.sentence]
        assert len(found) == notes


def test_the_way_of_the_first_data_cache(tmp_path: Path) -> None:
    for at, facts in enumerate(
        [("1", "Instruction", 32), ("1", "Data", 64), ("2", "Unified", 2048)]
    ):
        index = tmp_path / f"index{at}"
        index.mkdir()
        for name, value in zip(("level", "type", "number_of_sets"), facts, strict=True):
            (index / name).write_text(f"{value}\n")
        (index / "coherency_line_size").write_text("64\n")
    assert first_level_way(tmp_path) == 4096
    assert first_level_way(tmp_path / "none") is None


def test_the_status_is_that_of_the_first_refusal(plain: Path, tmp_path: Path) -> None:
    plan = plan_for(tmp_path / "x.plan", "77" * 20)
    other = halo("doctor", "--plan", str(plan), "--", str(plain))
    assert other.status == BadPlan.exit_status
    assert (
        "belongs to plain: every allocation" in other.stdout
        and "way out: halo update" in other.stdout
    )
    cut = tmp_path / "cut.plan"
    cut.write_bytes(plan.read_bytes()[:50])
    assert halo("doctor", "--plan", str(cut), "--", str(plain)).status == BadPlan.exit_status
    fitting = plan_for(tmp_path / "x.plan", build_id_of(plain))
    good = halo("doctor", "--plan", str(fitting), "--", str(plain), "its", "--arguments")
    assert (good.status, good.stderr) == (0, ""), good.stdout
    assert "suitable               halo can place its objects" in good.stdout
