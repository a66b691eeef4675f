"""Modules with the build-id of the plan's, but other content, are not those of the plan."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from halo.binary.elf import build_id_of
from halo.binary.elf.digest import digest_of
from halo.plan import read_plan
from support.command import halo
from support.planned import compile_program, make_plan, run_planned

# Prints a sum, and how many objects lie at no multiple of 16. Without VECTORS it reads the objects
# word by word; with it by an instruction that faults on the others.
PROGRAM = r"""
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long add(const void *p) {
#ifdef VECTORS
  __m128i a = _mm_setzero_si128();
  __asm__ volatile("paddq (%1), %0" : "+x"(a) : "r"(p));
  return _mm_cvtsi128_si64(a);
#else
  return *(const volatile long *)p;
#endif
}
int main(void) {
  long sum = 0, odd = 0;
  void *p[1000];
  for (int i = 0; i < 1000; ++i) { p[i] = malloc(24); memset(p[i], 1, 24); sum += add(p[i]); }
  for (int i = 0; i < 1000; ++i) { odd += (uintptr_t)p[i] % 16 != 0; free(p[i]); }
  printf("%ld %ld\n", sum % 1000, odd);
}
"""
# Two bodies of one length: an aligned move, and one that takes any address.
PATCHED = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void touch(void *p);
__asm__(".globl touch\ntouch: " MOVE " (%rdi), %xmm0\nret");
int main(void) {
  long odd = 0;
  for (int i = 0; i < 1000; ++i) {
    void *p = malloc(24);
    odd += (uintptr_t)p % 16 != 0;
    touch(p);
  }
  printf("%ld\n", odd);
}
"""
ID = "-Wl,--build-id=0x1234"
STRATEGIES = ["everything", "dense", "random-pools"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(tmp_path_factory.mktemp("recorded"), PROGRAM, ID)


def plan_of(program: Path, strategy: str) -> Path:
    folder = program.parent / strategy
    folder.mkdir(exist_ok=True)
    return make_plan(folder, [str(program)], strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_plan_does_nothing_in_another_program_with_the_build_id(
    recorded: Path, tmp_path: Path, strategy: str
) -> None:
    other = compile_program(tmp_path, PROGRAM, ID, "-DVECTORS")
    assert build_id_of(other) == build_id_of(recorded) == "1234"
    plan = plan_of(recorded, strategy)
    assert int(run_planned([str(recorded)], plan).stdout.split()[1]) > 300
    run = run_planned([str(other)], plan)
    assert (run.status, run.stdout.split()[1]) == (0, "0")
    assert not run.stats["active"] and "with this build-id" in run.stats["reason"]
    told = halo("exec", "--plan", str(plan), "--", str(other))
    assert told.status == 0 and "the same build-id" in told.stderr
    told = halo("doctor", "--plan", str(plan), "--", str(other))
    assert told.status != 0 and "the same build-id" in told.stdout + told.stderr


def test_unloaded_parts_of_a_file_do_not_matter(recorded: Path, tmp_path: Path) -> None:
    """A stripped program has the code that was recorded, also one without section headers."""
    plan = plan_of(recorded, "everything")
    for name, command in {
        "stripped": ["strip"],
        "copied": ["objcopy", "--strip-debug"],
        "bare": ["objcopy", "--strip-section-headers"],
    }.items():
        path = tmp_path / name
        shutil.copy(recorded, path)
        if subprocess.run([*command, path], capture_output=True, check=False).returncode != 0:
            assert name == "bare"  # binutils before 2.41
            continue
        assert digest_of(path) == digest_of(recorded)
        assert int(run_planned([str(path)], plan).stdout.split()[1]) > 300


def test_other_code_of_the_same_layout_has_aligned_objects(tmp_path: Path) -> None:
    """Only instructions differ, so contexts are found; but the code was not checked."""
    for name in ("movups", "movaps"):
        compile_program(tmp_path, PATCHED, ID, f'-DMOVE="{name}"', name=name)
    digests = [digest_of(tmp_path / name) for name in ("movups", "movaps")]
    assert digests[0].layout == digests[1].layout and digests[0].code != digests[1].code
    plan = make_plan(tmp_path, [str(tmp_path / "movups")], "everything")
    assert int(run_planned([str(tmp_path / "movups")], plan).stdout) > 300
    run = run_planned([str(tmp_path / "movaps")], plan)
    assert (run.status, run.stdout) == (0, "0\n")
    assert run.stats["active"] and "other code" in run.stats["all_aligned_to_16"]
    told = halo("doctor", "--plan", str(plan), "--", str(tmp_path / "movaps"))
    assert "aligned to 16 bytes" in told.stdout


# Opens each library alone, and prints where, and how many of its objects lie at no multiple of 16.
OPENS_IN_TURN = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static void *p[1000];
int main(int argc, char **argv) {
  for (int at = 1; at < argc; ++at) {
    void *library = dlopen(argv[at], RTLD_NOW);
    void (*touch)(void *) = (void (*)(void *))dlsym(library, "touch");
    long odd = 0;
    for (int i = 0; i < 1000; ++i) {
      odd += (uintptr_t)(p[i] = malloc(24)) % 16 != 0;
      touch(p[i]);
    }
    for (int i = 0; i < 1000; ++i) free(p[i]);
    printf("%p %ld\n", (void *)touch, odd);
    if (at + 1 < argc) dlclose(library);
  }
}
"""
TRUSTING = ("--option", "trust_loaded=true")
TOUCHES = '__asm__(".globl touch\\ntouch: " MOVE " (%rdi), %xmm0\\nret");'


def test_other_code_at_the_address_of_checked_code_has_aligned_objects(tmp_path: Path) -> None:
    """A library that was checked is closed, and one with its build-id takes its place."""
    program = compile_program(tmp_path, OPENS_IN_TURN)
    one, two = (
        compile_program(tmp_path, TOUCHES, ID, "-shared", f'-DMOVE="{move}"', name=f"{move}.so")
        for move in ("movups", "movaps")
    )
    plan = make_plan(tmp_path, [str(program), str(one)], "dense", *TRUSTING)
    run = run_planned([str(program), str(one), str(one), str(two)], plan)
    assert run.status == 0 and "other code" in run.stats["all_aligned_to_16"]
    (where, odd), again, (later, none) = map(str.split, run.stdout.splitlines())
    assert where == again[0] == later
    assert int(odd) > 300 and int(again[1]) > 300 and int(none) == 0


LIBRARY = "#include <stdlib.h>\nvoid *make(int n) { void *p = malloc(n); EXTRA return p; }\n"
USER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  void *(*make)(int) = (void *(*)(int))dlsym(library, "make");
  for (int i = 0; i < 1000; ++i) { volatile char *p = make(24); p[i % 24] = 1; free((void *)p); }
}
"""


def test_another_library_with_the_build_id_is_forwarded(tmp_path: Path) -> None:
    user = compile_program(tmp_path, USER, name="user")
    libraries = [
        compile_program(tmp_path, LIBRARY, ID, "-shared", "-fPIC", f"-DEXTRA={extra}", name=name)
        for name, extra in (("one.so", ""), ("two.so", "if(n==7)abort();"))
    ]
    plan = make_plan(tmp_path, [str(user), str(libraries[0])], "dense")
    env = {"HALO_STATS_COUNTS": "1"}
    counts = [run_planned([str(user), str(it)], plan, env=env) for it in libraries]
    assert [it.status for it in counts] == [0, 0]
    assert [it.stats["unlike_modules"] for it in counts] == [0, 1]
    assert sum(counts[0].allocations) >= 999 and sum(counts[1].allocations or [0]) == 0


def test_a_changed_file_with_its_build_id_is_not_planned_for(tmp_path: Path) -> None:
    """Its walk rules would be those of other code."""
    program = compile_program(tmp_path, PROGRAM, ID)
    plan = make_plan(tmp_path, [str(program)], "dense")
    compile_program(tmp_path, PROGRAM, ID, "-DVECTORS")
    again = halo("plan", str(tmp_path / "prog.profile"), "-o", str(tmp_path / "again.plan"))
    assert again.status != 0 and "other content" in again.stderr
    assert read_plan(plan).modules[0].layout != digest_of(program).layout
