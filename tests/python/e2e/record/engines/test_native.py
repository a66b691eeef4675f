"""The engine `native`: programs do what they do without it, and it sees what the others see."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from halo.record.profile import GENERATED_CODE, Profile
from halo.record.profile.sections.loaded import LOADED
from support.command import BUILD, compile_c, halo
from support.native import build, record
from support.recordings import temporary_of

BENCH = BUILD / "bench"
JSON = '[{"a":1,"b":[1,2,3]},{"a":2,"c":"text"}]'
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "hospital": (str(BENCH / "hospital"), "6", "60", "1"),
    "rbtree": (str(BENCH / "rbtree"), "60000", "90000", "6000", "1"),
    "scene": (str(BENCH / "scene"), "30000", "20", "1"),
    "mst": (str(BENCH / "mst"), "20000", "60000", "1"),
    "jq": ("jq", "-c", "."),
}
Key = tuple[tuple[str, int], ...]


def counts(profile: Profile) -> dict[Key, tuple[int, ...]]:
    frames = [(profile.modules[f.module].build_id, f.offset) for f in profile.frames]
    return {
        tuple(frames[frame] for frame in profile.stack(at)): (
            *(it.allocations, it.frees, it.bytes, it.min_size, it.max_size, it.peak_live_bytes),
        )
        for at, it in enumerate(profile.contexts)
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_contexts_and_lifetimes_are_those_of_an_exact_recording(tmp_path: Path, name: str) -> None:
    ours, output = record(tmp_path, *PROGRAMS[name], stdin=JSON)
    exact, expected = record(
        tmp_path, "--exact", "--", *PROGRAMS[name], engine="valgrind", stdin=JSON
    )
    assert counts(ours) == counts(exact)
    assert output == expected


def allocated(profile: Profile, size: int) -> tuple[int, int]:
    """Allocations and frees of that size."""
    found = [it for it in profile.contexts if it.max_size == size]
    return sum(it.allocations for it in found), sum(it.frees for it in found)


THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *work(void *own) {
  long sum = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    long *block = malloc(56);
    for (int i = 0; i < 7; ++i) block[i] = i;
    for (int i = 0; i < 7; ++i) sum += block[i];
    free(block);
  }
  return (void *)sum;
}
int main(void) {
  long total = 0;
  for (int round = 0; round < 20; ++round) {
    pthread_t threads[50];
    for (int i = 0; i < 50; ++i) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 50; ++i) {
      void *result;
      pthread_join(threads[i], &result);
      total += (long)result;
    }
  }
  printf("%ld\\n", total);
}
"""


def test_what_many_threads_allocate_is_counted(tmp_path: Path) -> None:
    profile, output = record(tmp_path, build(tmp_path, THREADS, "-pthread"))
    assert output == f"{20 * 50 * 3000 * 21}\n"
    assert allocated(profile, 56) == (3_000_000, 3_000_000)


FAMILY = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static char *volatile kept;
static void allocate(int count, int size) {
  for (int i = 0; i < count; ++i) (kept = malloc(size))[0] = 1;
}
int main(int count, char **arguments) {
  if (count > 1) {
    allocate(1000, 88);
    return 0;
  }
  allocate(10, 40);
  if (fork() == 0) {
    allocate(20, 72);
    _exit(3);
  }
  int status;
  wait(&status);
  if (fork() == 0) execl(arguments[0], arguments[0], "executed", (char *)0);
  wait(0);
  printf("%d\\n", WEXITSTATUS(status));
}
"""


def test_children_are_recorded_but_not_what_they_execute(tmp_path: Path) -> None:
    profile, output = record(tmp_path, build(tmp_path, FAMILY))
    assert output == "3\n"
    assert [allocated(profile, size)[0] for size in (40, 72, 88)] == [10, 20, 0]


KILLED = """
#include <signal.h>
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 100; ++i) *(volatile char *)malloc(48) = 1;
  raise(SIGKILL);
}
"""


def test_sigkill_leaves_what_was_seen(tmp_path: Path) -> None:
    profile, _ = record(tmp_path, build(tmp_path, KILLED), status=-signal.SIGKILL)
    assert allocated(profile, 48) == (100, 0)


WAITS = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts("ready");
  fflush(stdout);
  for (long i = 0; i < 20000000; ++i) free(malloc(16));
  puts("done");
  return 5;
}
"""


def test_the_program_goes_on_without_the_consumer(tmp_path: Path) -> None:
    words = ["record", "--engine", "native", "--", str(build(tmp_path, WAITS))]
    with subprocess.Popen(
        [sys.executable, "-m", "halo", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        consumer = f"halo-consumer {temporary_of(process.pid)}"
        subprocess.run(["pkill", "-KILL", "-f", consumer], check=True)
        assert process.stdout.read() == "done\n"
        said = process.stderr.read()
        assert process.wait(60) == 118
    assert said.startswith("halo: halo-consumer failed")


ROUNDING = """
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  volatile double *values = malloc(100 * sizeof *values), sum = 0;
  fesetround(FE_UPWARD);
  for (int i = 0; i < 100; ++i) values[i] = 1.0 / (i + 3);
  for (int turn = 0; turn < 300000; ++turn)
    for (int i = 0; i < 100; ++i) sum += values[i];
  printf("%a %d\\n", sum, fegetround() == FE_UPWARD);
}
"""


def test_rounding_modes_hold(tmp_path: Path) -> None:
    binary = build(tmp_path, ROUNDING, "-lm")
    natively = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    _, output = record(tmp_path, binary)
    assert output == natively


COMES_AND_GOES = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **libraries) {
  long total = 0;
  for (int turn = 0; turn < 200; ++turn) {
    void *library = dlopen(libraries[1 + turn % 2], RTLD_NOW);
    long *(*make)(void) = dlsym(library, "make");
    long *made = make();
    for (int i = 0; i < 20000; ++i) total += made[i % 4];
    free(made);
    dlclose(library);
  }
  printf("%ld\\n", total);
}
"""
LIBRARY = """
#include <stdlib.h>
long *make(void) {
  long *made = malloc(SIZE);
  for (int i = 0; i < 4; ++i) made[i] = SIZE;
  return made;
}
"""


def test_libraries_come_and_go(tmp_path: Path) -> None:
    for name, size in (("one", 32), ("two", 48)):
        flags = ("-shared", "-fPIC", f"-DSIZE={size}", "-fno-builtin-malloc")
        compile_c(LIBRARY, tmp_path / f"{name}.so", *flags)
    binary = build(tmp_path, COMES_AND_GOES)
    profile, output = record(tmp_path, binary, tmp_path / "one.so", tmp_path / "two.so")
    assert output == f"{100 * 20000 * (32 + 48)}\n"
    assert [allocated(profile, size) for size in (32, 48)] == [(100, 100), (100, 100)]
    for context in (at for at, it in enumerate(profile.contexts) if it.max_size in (32, 48)):
        innermost = profile.frames[next(profile.stack(context))]
        expected = {32: "one.so", 48: "two.so"}[profile.contexts[context].max_size]
        assert profile.modules[innermost.module].path.endswith(expected)


GENERATES = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int count, char **arguments) {
  unsigned char code[] = {0xB8, 42, 0, 0, 0, 0xC3};
  int rights = PROT_READ | PROT_WRITE | (count > 1 ? PROT_EXEC : 0), total = 0;
  unsigned char *page = mmap(0, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  free(malloc(40));
  memcpy(page, code, sizeof code);
  if (count == 1) return 0;
  for (int i = 0; i < 2000000; ++i) {
    if (i % 1000 == 0) page[1] = i / 1000 % 100;
    total += ((int (*)(void))page)();
  }
  printf("%d\\n", total);
}
"""


def test_generated_code_is_noticed_and_runs_as_it_is(tmp_path: Path) -> None:
    binary = build(tmp_path, GENERATES)
    profile, output = record(tmp_path, binary, "generate")
    assert output == f"{20 * 1000 * sum(range(100))}\n"
    assert GENERATED_CODE.of(profile)
    profile, _ = record(tmp_path, binary)
    assert not GENERATED_CODE.of(profile)


def test_modules_that_never_allocate_are_known(tmp_path: Path) -> None:
    """Their code may access objects, so that it counts for the alignment of these."""
    source = "#include <dlfcn.h>\nint main(int n, char **a) { return !dlopen(a[1], RTLD_NOW); }"
    library = compile_c("int x;", tmp_path / "silent.so", "-shared", "-fPIC")
    profile, _ = record(tmp_path, build(tmp_path, source), library)
    paths = [module.path for module in LOADED.of(profile) or ()]
    assert str(library) in paths
    assert not [path for path in paths if "Zydis" in path or "libhalo" in path]


def test_exact_recordings_are_refused(tmp_path: Path) -> None:
    outcome = halo("record", "--engine", "native", "--exact", "--", "true", cwd=tmp_path)
    assert outcome.status == 111
    assert "use --engine valgrind" in outcome.stderr


SANDBOXED = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \\
                      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int count, char **arguments) {
  struct sock_filter only[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_brk), ALLOW(SYS_newfstatat),
      ALLOW(SYS_rt_sigreturn), ALLOW(SYS_fstat), ALLOW(SYS_getrandom), ALLOW(SYS_mmap),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog filter = {sizeof only / sizeof *only, only};
  volatile long sum = 0, *values = calloc(100, sizeof *values);
  for (int turn = 0; turn < 100000; ++turn)
    for (int i = 0; i < 100; ++i) values[i] += i;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (count > 1 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)
                : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) return 1;
  for (int turn = 0; turn < 300000; ++turn) {
    long *one = malloc(48);
    for (int i = 0; i < 6; ++i) one[i] = turn;
    sum += one[turn % 6];
    free(one);
  }
  printf("%ld\\n", sum);
}
"""


@pytest.mark.parametrize("arguments", [(), ("by prctl",)])
def test_what_precedes_a_sandbox_is_recorded(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    binary = build(tmp_path, SANDBOXED)
    natively = subprocess.run([binary, *arguments], capture_output=True, text=True, check=True)
    profile, output = record(tmp_path, binary, *arguments)
    assert output == natively.stdout != ""
    assert allocated(profile, 800)[0] == 1
    assert allocated(profile, 48) == (0, 0)
