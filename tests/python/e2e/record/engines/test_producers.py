"""Compiled and translated code show the same contexts of a program, and lead to the same groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from halo.record.profile import Profile, read_profile
from support.command import halo
from support.recordings import tells_only_its_file
from support.traces import instrumented, trace_of, write_trace

PROGRAMS = {
    "hospital": ("5", "20", "1"),
    "rbtree": ("20000", "50000", "3000", "1"),
    "mst": ("5000", "15000", "1"),
}
# What lies outside of main and its caller, which only the translator sees: the rest of the C
# library's way to main, and the entry.
OUTSIDE = 2


@pytest.fixture(scope="module", params=PROGRAMS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with PRODUCER.profile and PRODUCER.plan.json of one program."""
    folder = tmp_path_factory.mktemp(request.param)
    program = instrumented(request.param, folder)
    for producer in ("valgrind", "llvm"):
        profile, plan = f"{producer}.profile", f"{producer}.plan"
        command = ["record", "--exact", "--engine", producer, "-o", profile, "--", str(program)]
        outcome = halo(*command, *PROGRAMS[request.param], cwd=folder)
        assert outcome.status == 0 and tells_only_its_file(outcome.stderr, profile)
        assert halo("plan", profile, "-o", plan, cwd=folder).status == 0
    return folder


def stacks(profile: Profile, cut: int) -> dict[tuple[tuple[str, int], ...], tuple[int, ...]]:
    """Each context's stack, innermost first, without the outermost frames; what it counted.

    Of objects that the program itself allocates: the C library takes other ways to its own where
    there are threads, as that of the logging library.
    """
    [program] = {m.build_id for m in profile.modules if m.path == profile.program}
    found: dict[tuple[tuple[str, int], ...], tuple[int, ...]] = {}
    for context in profile.contexts:
        stack, node = [], context.node
        while node:
            node, number = profile.nodes[node]
            frame = profile.frames[number]
            stack.append((profile.modules[frame.module].build_id, frame.offset))
        if stack[0][0] != program:
            continue
        kept = tuple(stack[: len(stack) - cut] if len(stack) > cut + 1 else stack)
        counts = (context.allocations, context.frees, context.bytes, context.alignment)
        found[kept] = counts
    return found


def test_contexts_are_the_same(recorded: Path) -> None:
    translated = read_profile(recorded / "valgrind.profile")
    compiled = read_profile(recorded / "llvm.profile")
    assert (translated.producer, compiled.producer) == ("valgrind", "llvm")
    assert stacks(compiled, 0) == stacks(translated, OUTSIDE)


def test_accesses_are_the_same_but_for_code_that_is_not_instrumented(recorded: Path) -> None:
    translated = read_profile(recorded / "valgrind.profile").totals
    compiled = read_profile(recorded / "llvm.profile").totals
    assert compiled.accesses == pytest.approx(translated.accesses, rel=1e-3)
    assert compiled.machine_accesses == pytest.approx(translated.machine_accesses, rel=1e-2)
    assert compiled.peak_live_bytes == translated.peak_live_bytes


def groups(plan: Path) -> list[list[list[str]]]:
    document: dict[str, Any] = json.loads(plan.read_text())
    names: list[str] = document["frames"]
    return [
        sorted(inside_main([names[at] for at in it["stack"]]) for it in group["contexts"])
        for group in document["groups"]
    ]


def inside_main(stack: list[str]) -> list[str]:
    outside = ("__libc_start", "_start")
    return [frame for frame in stack if not frame.startswith(outside)]


def test_groups_are_the_same(recorded: Path) -> None:
    found = groups(recorded / "llvm.plan.json")
    assert found == groups(recorded / "valgrind.plan.json")
    assert found


def test_a_stored_trace_leads_to_the_same_profile(recorded: Path) -> None:
    name = recorded.name.rstrip("0123456789")
    trace_of(recorded / name, recorded / "t", *PROGRAMS[name])
    assert halo("record", "--trace", "t", "-o", "t.profile", cwd=recorded).status == 0
    stored, live = read_profile(recorded / "t.profile"), read_profile(recorded / "llvm.profile")
    assert stored.contexts == live.contexts
    assert stored.edges == live.edges
    assert stored.args == live.args


def test_a_program_that_is_not_instrumented_is_told_so(tmp_path: Path) -> None:
    outcome = halo("record", "--engine", "llvm", "--", "true", cwd=tmp_path)
    assert outcome.status == 113
    assert "is not instrumented: build it with halo-cc" in outcome.stderr


@pytest.mark.parametrize("kept", [16, 20, 60])
def test_a_beginning_of_a_trace_makes_no_profile(tmp_path: Path, kept: int) -> None:
    whole = write_trace(tmp_path / "t", "")
    (tmp_path / "cut").write_bytes(whole.read_bytes()[:kept])
    outcome = halo("record", "--trace", "cut", cwd=tmp_path)
    assert (outcome.status, outcome.stderr.count("\n")) == (121, 1)
    assert "is cut short before its first event" in outcome.stderr
    assert not (tmp_path / "cut.profile").exists()


def test_status_and_forked_children(tmp_path: Path) -> None:
    import subprocess

    from support.command import REPOSITORY

    source = tmp_path / "a.c"
    source.write_text(
        "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
        "int main(void) { if (fork() == 0) { volatile char *p = malloc(77); *p = 1;"
        " free((void *)p); return 0; } int s; wait(&s);"
        " volatile char *p = malloc(33); *p = 1; free((void *)p); return 9; }"
    )
    compiler = str(REPOSITORY / "bin" / "halo-cc")
    subprocess.run([compiler, "-O1", str(source), "-o", str(tmp_path / "a")], check=True)
    outcome = halo("record", "--engine", "llvm", "-o", "p", "--", "./a", cwd=tmp_path)
    assert outcome.status == 9
    assert {context.max_size for context in read_profile(tmp_path / "p").contexts} >= {33, 77}
