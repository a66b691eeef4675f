"""When the system or the plan fails: the program under the runtime goes on as it would without.

Rows are those of the list of what breaks preloaded allocators, by what each is about:
28 system calls that a filter refuses; 29 memory and address space that run out, errno;
30 resident memory and huge pages.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from planned import RUNTIME, Run, compile_program, make_plan, run_planned

from halo.plan import Plan, read_plan, write_plan

# Works before and after some mischief, which its arguments name, and then says how many blocks
# before and after lay in groups, how many were refused, and its peak of resident memory. Ends with
# a message and status 3 if a block is damaged or too small, if errno changes over a grouped
# allocation or a free, and if a refusal has another errno than ENOMEM. All sizes are multiples of
# 16: the C library never has exactly so many bytes usable in a block, a group always has.
STEADY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { most = 2000000, mark = 4321 };
static unsigned char *blocks[most];
static atomic_long grouped, refused;
static int half;

static void die(const char *what) {
  write(2, what, strlen(what));
  write(2, "\n", 1);
  _exit(3);
}
static size_t size_of(int i) { return 16 * (size_t)(1 + i * 7 % 12); }

static unsigned char *made(unsigned char *p, int i) {
  size_t n = size_of(i);
  if (!p) {
    if (errno != ENOMEM) die("refused, but errno is not ENOMEM");
    ++refused;
    return NULL;
  }
  size_t usable = malloc_usable_size(p);
  if (usable < n) die("a block is too small");
  if (usable == n) {
    ++grouped;
    if (errno != mark) die("a grouped allocation changed errno");
  }
  return memset(p, i, n);
}
static unsigned char *make(int i) {
  unsigned char *p, *q;
  errno = mark;
  if (i % 3 == 0) return made(malloc(size_of(i)), i);
  if (i % 3 == 1) {
    p = calloc(2, size_of(i) / 2);
    for (size_t k = 0; p && k < size_of(i); ++k) if (p[k]) die("calloc's memory is not zero");
    return made(p, i);
  }
  q = malloc(16);
  if (!q) return made(q, i);
  q[0] = 1;
  p = realloc(q, size_of(i));
  if (!p) free(q);
  return made(p, i);
}
static void fill(int from, int to) { for (int i = from; i < to; ++i) blocks[i] = make(i); }
static void drop(int from, int to) {
  for (int i = from; i < to; ++i) {
    for (size_t k = 0; blocks[i] && k < size_of(i); ++k)
      if (blocks[i][k] != (unsigned char)i) die("a block is damaged");
    errno = mark;
    free(blocks[i]);
    if (errno != mark) die("free changed errno");
    blocks[i] = NULL;
  }
}
static void *fill_first_half(void *unused) { fill(0, half); return unused; }

static int call_number(const char *name) {
  return !strcmp(name, "mmap") ? SYS_mmap : !strcmp(name, "munmap") ? SYS_munmap
       : !strcmp(name, "mprotect") ? SYS_mprotect : !strcmp(name, "madvise") ? SYS_madvise
       : !strcmp(name, "mremap") ? SYS_mremap : -1;
}
static void install(struct sock_filter *code, int length) {
  struct sock_fprog filter = {(unsigned short)length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    die("no filter can be installed");
}
static const struct sock_filter load_number =
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
static void deny(int error, const char *names) {
  struct sock_filter code[20] = {load_number};
  int n = 1;
  char copy[100];
  snprintf(copy, sizeof copy, "%s", names);
  for (char *name = strtok(copy, "+"); name; name = strtok(NULL, "+")) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call_number(name), 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  install(code, n);
  snprintf(copy, sizeof copy, "%s", names);
  errno = 0;
  if (syscall(call_number(strtok(copy, "+")), 0, 0, 0, 0, 0, 0) == 0 || errno != error)
    die("the filter does nothing");
}
static void kill_other_calls(void) {
  static const int allowed[] = {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_write,
                                SYS_getrusage, SYS_exit_group};
  struct sock_filter code[20] = {load_number};
  int n = 1;
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; ++i) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  install(code, n);
}
// What the process has of what the limit counts, in KiB.
static long used(const char *field) {
  static char text[8192];
  FILE *file = fopen("/proc/self/status", "r");
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return strtol(strstr(text, field) + strlen(field), NULL, 10);
}
static void limit(const char *what, rlim_t bytes) {
  int kind = !strcmp(what, "data") ? RLIMIT_DATA : RLIMIT_AS;
  struct rlimit both;
  getrlimit(kind, &both);
  both.rlim_cur = bytes;
  if (setrlimit(kind, &both)) die("no limit can be set");
}
static void refuse(int on) {
  int *switched = dlsym(RTLD_DEFAULT, "refuse_memory");
  if (!switched) die("no allocator that refuses");
  *switched = on;
}
// Blocks in mappings that the kernel was advised to back with huge pages.
static int blocks_in_huge_mappings(int count) {
  static char line[512];
  unsigned long from = 0, to = 0, first, last;
  int found = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lx-%lx ", &first, &last) == 2) { from = first; to = last; }
    if (strncmp(line, "VmFlags:", 8) || !strstr(line, " hg")) continue;
    for (int i = 0; i < count; ++i)
      found += (unsigned long)blocks[i] >= from && (unsigned long)blocks[i] < to;
  }
  fclose(file);
  return found;
}
static int huge = -1, ends_at_once = 0;
static void mischief(char **word, int count) {
  for (; *word; ++word) {
    const char *plan = getenv("HALO_PLAN");
    if (!strcmp(*word, "deny")) { deny(atoi(word[1]), word[2]); word += 2; }
    else if (!strcmp(*word, "kill")) { kill_other_calls(); ends_at_once = 1; }
    else if (!strcmp(*word, "refuse")) refuse(1);
    else if (!strcmp(*word, "unlink")) { if (unlink(plan)) die("no plan to unlink"); }
    else if (!strcmp(*word, "replace")) { if (rename(*++word, plan)) die("no plan to replace"); }
    else if (!strcmp(*word, "load")) { if (!dlopen("libm.so.6", RTLD_NOW)) die("no library"); }
    else if (!strcmp(*word, "limit")) {
      long now = used(!strcmp(word[1], "data") ? "VmData:" : "VmSize:");
      limit(word[1], ((rlim_t)now << 10) + ((rlim_t)atoi(word[2]) << 20));
      word += 2;
    }
    else if (!strcmp(*word, "cap")) { limit(word[1], (rlim_t)atoi(word[2]) << 20); word += 2; }
    else if (!strcmp(*word, "huge")) huge = 0;
    else die(*word);
  }
}
int main(int argc, char **argv) {
  int count = atoi(argv[1]);
  static pthread_t thread;
  half = count / 2;
  if (pthread_create(&thread, NULL, fill_first_half, NULL) == 0) {
    fill(half, count);
    pthread_join(thread, NULL);
  } else {
    fill(0, count);
  }
  drop(0, half);
  long before = grouped;
  mischief(argv + 2, count);
  fill(count, 3 * count);
  if (huge == 0) huge = blocks_in_huge_mappings(3 * count);
  drop(half, 3 * count);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  char line[200];
  int n = snprintf(line, sizeof line, "fine %ld %ld %ld %ld %d\n", before, grouped - before,
                   refused, usage.ru_maxrss, huge);
  write(1, line, (size_t)n);
  if (ends_at_once) _exit(0);
  if (dlsym(RTLD_DEFAULT, "refuse_memory")) refuse(0);
}
"""
COUNT = 12000  # blocks of 104 bytes on average in the phase before; twice as many come after
MANY = 180000

# Fails calls number FAIL_AT to FAIL_AT + FAIL_COUNT − 1 of FAIL_CALL; says at exit how many of how
# many. The C library's own calls do not come here.
FAILING = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int calls, failed;
static int fails(const char *name) {
  const char *wanted = getenv("FAIL_CALL");
  if (!wanted || strcmp(wanted, name)) return 0;
  int now = ++calls, first = atoi(getenv("FAIL_AT"));
  if (now < first || now - first >= atoi(getenv("FAIL_COUNT"))) return 0;
  ++failed;
  errno = ENOMEM;
  return 1;
}
void *mmap(void *p, size_t n, int access, int flags, int file, off_t at) {
  return fails("mmap") ? (void *)-1 : (void *)syscall(SYS_mmap, p, n, access, flags, file, at);
}
int munmap(void *p, size_t n) { return fails("munmap") ? -1 : (int)syscall(SYS_munmap, p, n); }
int mprotect(void *p, size_t n, int access) {
  return fails("mprotect") ? -1 : (int)syscall(SYS_mprotect, p, n, access);
}
int madvise(void *p, size_t n, int advice) {
  return fails("madvise") ? -1 : (int)syscall(SYS_madvise, p, n, advice);
}
__attribute__((destructor)) static void report(void) {
  dprintf(2, "failed %d of %d\n", failed, calls);
}
"""

# The next allocator: the C library's, until it is told to refuse.
REFUSING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
int refuse_memory = 0;
static void *refused(void) { errno = ENOMEM; return NULL; }
void *malloc(size_t n) { return refuse_memory ? refused() : __libc_malloc(n); }
void *calloc(size_t k, size_t n) { return refuse_memory ? refused() : __libc_calloc(k, n); }
void *realloc(void *p, size_t n) { return refuse_memory ? refused() : __libc_realloc(p, n); }
size_t malloc_usable_size(void *p) {
  static size_t (*real)(void *) = NULL;
  if (!real) real = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
  return real(p);
}
"""


@dataclass(frozen=True)
class Outcome:
    """What the program said of itself."""

    status: int
    stderr: str
    before: int  # grouped blocks before the mischief
    after: int
    refused: int
    peak: int  # KiB resident
    huge: int  # blocks in mappings for huge pages; -1: not asked

    @property
    def fine(self) -> bool:
        return self.status == 0 and not self.stderr


def outcome_of(status: int, stdout: str, stderr: str) -> Outcome:
    found = re.fullmatch(r"fine (\d+) (\d+) (\d+) (\d+) (-?\d+)\n", stdout)
    assert found is not None, (status, stdout, stderr)
    return Outcome(status, stderr, *(int(number) for number in found.groups()))


@dataclass(frozen=True)
class Steady:
    """The program, its plan, and the two libraries that may follow the runtime."""

    program: Path
    plan: Path
    failing: Path
    refusing: Path

    def run(
        self,
        *mischief: object,
        plan: Path | None = None,
        count: int = COUNT,
        library: Path | None = None,
        env: Mapping[str, str] | None = None,
        limit: Callable[[], None] | None = None,
    ) -> Run:
        preload = f"{RUNTIME}:{library}" if library else str(RUNTIME)
        return run_planned(
            [str(self.program), str(count), *(str(word) for word in mischief)],
            plan or self.plan,
            env={"LD_PRELOAD": preload, **(env or {})},
            preexec_fn=limit,
        )

    def outcome(self, *mischief: object, **more: object) -> Outcome:
        run = self.run(*mischief, **more)  # type: ignore[arg-type]
        return outcome_of(run.status, run.stdout, run.stderr)

    def alone(self, count: int = COUNT, limit: Callable[[], None] | None = None) -> Run:
        """Without the runtime."""
        done = subprocess.run(
            [self.program, str(count)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit,
        )
        return Run(done.returncode, done.stdout, done.stderr, {})


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Steady:
    folder = tmp_path_factory.mktemp("steady")
    program = compile_program(folder, STEADY, "-pthread")
    libraries = [
        compile_program(folder, source, "-shared", "-fPIC", name=name)
        for source, name in ((FAILING, "failing.so"), (REFUSING, "refusing.so"))
    ]
    plan = make_plan(folder, [str(program), "300"], "per-site", "--option", "coverage=1")
    return Steady(program, plan, *libraries)


def changed(steady: Steady, folder: Path, change: Callable[[Plan], Plan]) -> Path:
    path = folder / "changed.plan"
    write_plan(change(read_plan(steady.plan)), path)
    return path


def test_nothing_fails_to_begin_with(steady: Steady) -> None:
    """What the other tests compare with: all of the program's blocks are grouped."""
    run = steady.run()
    outcome = outcome_of(run.status, run.stdout, run.stderr)
    assert outcome.fine and outcome.refused == 0
    assert (outcome.before, outcome.after) == (COUNT, 2 * COUNT)
    assert sum(run.allocations) >= 3 * COUNT


# Rows 28 and 29: system calls that fail.


@pytest.mark.parametrize("count", [1, 1_000_000], ids=["one", "all from there on"])
@pytest.mark.parametrize("call", ["mmap", "mprotect", "madvise"])
def test_every_call_for_memory_may_fail(steady: Steady, call: str, count: int) -> None:
    """Rows 28 and 29. Each call in turn, until a run makes fewer: blocks are forwarded instead."""
    struck = []
    for at in range(1, 200):
        env = {"FAIL_CALL": call, "FAIL_AT": str(at), "FAIL_COUNT": str(count)}
        outcome = steady.outcome(library=steady.failing, env=env)
        found = re.search(r"failed (\d+) of \d+\n$", outcome.stderr)
        assert found is not None and outcome.status == 0 and outcome.refused == 0, outcome
        if found.group(1) == "0":
            assert outcome.before + outcome.after == 3 * COUNT
            break
        struck.append(outcome)
    else:
        pytest.fail("calls without end")
    assert struck
    # The first ones may take all groups away; the last one leaves at least what there was.
    assert struck[-1].before + struck[-1].after > COUNT


@pytest.mark.parametrize("error", ["EPERM", "ENOMEM", "ENOSYS"])
@pytest.mark.parametrize("calls", ["madvise", "mremap", "munmap", "mmap", "mprotect"])
def test_a_filter_may_refuse_a_system_call(steady: Steady, calls: str, error: str) -> None:
    """Row 28: a seccomp filter that comes after the start."""
    number = {"EPERM": 1, "ENOMEM": 12, "ENOSYS": 38}[error]
    outcome = steady.outcome("deny", number, calls)
    assert outcome.fine and outcome.refused == 0
    assert outcome.before == COUNT and outcome.after > 0


def test_a_filter_may_refuse_all_of_them(steady: Steady) -> None:
    """Row 28. What the groups cannot get, the next allocator gets by brk."""
    outcome = steady.outcome("deny", 1, "mprotect+mmap+munmap+madvise+mremap")
    assert outcome.fine and outcome.refused == 0
    assert outcome.before == COUNT and 0 < outcome.after < 2 * COUNT


def test_only_memory_calls_are_made_while_the_program_allocates(steady: Steady) -> None:
    """Row 28: a filter kills the process at any other system call."""
    outcome = steady.outcome("kill", env={"HALO_STATS": ""})
    assert outcome.fine and outcome.after == 2 * COUNT


# Row 29: memory and address space that run out.


def limited(kind: int, mebibytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (mebibytes << 20, mebibytes << 20))


@pytest.mark.parametrize("mebibytes", [8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 4096, 16384])
def test_the_ladder_of_address_space_from_the_start(steady: Steady, mebibytes: int) -> None:
    """Row 29. Whatever runs with three quarters of the limit runs with all of it and the runtime;
    with less, it fails as it would without."""
    kind = resource.RLIMIT_AS
    run = steady.run(limit=limited(kind, mebibytes))
    assert run.status in (0, steady.alone(limit=limited(kind, mebibytes)).status), run.stderr
    if steady.alone(limit=limited(kind, mebibytes * 3 // 4)).stdout.startswith("fine"):
        outcome = outcome_of(run.status, run.stdout, run.stderr)
        assert outcome.fine
        assert mebibytes < 1024 or outcome.before == COUNT


@pytest.mark.parametrize("mebibytes", [0, 1, 2, 4, 8, 16, 64, 256, 4096])
def test_the_ladder_of_address_space_in_the_middle_of_a_run(steady: Steady, mebibytes: int) -> None:
    """Row 29: so much more than is used already. The groups' range was reserved before."""
    outcome = steady.outcome("limit", "as", mebibytes)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.after == 2 * COUNT


@pytest.mark.parametrize("mebibytes", [64, 1024])
def test_a_limit_far_below_what_is_reserved(steady: Steady, mebibytes: int) -> None:
    """Row 29: nothing new can be mapped by anyone; what is reserved serves on."""
    outcome = steady.outcome("cap", "as", mebibytes)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.after == 2 * COUNT


def test_the_ladder_of_memory_in_the_middle_of_a_run(steady: Steady) -> None:
    """Row 29: RLIMIT_DATA counts the pages that the groups open. ENOMEM where the next allocator
    has none either, and less of it the more there is."""
    count = 60000
    outcomes = [steady.outcome("limit", "data", more, count=count) for more in (0, 4, 8, 64)]
    refusals = [outcome.refused for outcome in outcomes]
    assert all(outcome.fine and outcome.before == count for outcome in outcomes)
    assert refusals[0] > 0 and refusals[-1] == 0
    assert refusals == sorted(refusals, reverse=True)


def test_groups_serve_on_where_the_next_allocator_refuses(steady: Steady) -> None:
    """Row 29: its ENOMEM is no business of a block that a group has room for."""
    outcome = steady.outcome("refuse", library=steady.refusing)
    assert outcome.fine and outcome.refused == 0
    assert outcome.after == 2 * COUNT


def test_both_out_of_memory_is_enomem(steady: Steady) -> None:
    """Row 29: no pages for the groups, and a next allocator that says no."""
    outcome = steady.outcome("refuse", "deny", 12, "mprotect", library=steady.refusing)
    assert outcome.fine and outcome.before == COUNT
    assert outcome.refused > 0 and outcome.after > 0


# The plan's file.


def run_with_plan(steady: Steady, plan: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [steady.program, "3000"],
        env={**os.environ, "LD_PRELOAD": str(RUNTIME), "HALO_PLAN": str(plan)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        preexec_fn=without_superuser_reading,
    )


def without_superuser_reading() -> None:
    """Lets file modes count for root as well, from the next exec on."""
    drop_from_bounding_set = 24
    dac_override, dac_read_search = 1, 2
    for capability in (dac_override, dac_read_search):
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def bad_directory(path: Path) -> None:
    path.mkdir()


def bad_fifo(path: Path) -> None:
    os.mkfifo(path)


def bad_mode(path: Path) -> None:
    path.write_bytes(b"HALOPLAN")
    path.chmod(0)


def bad_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bad_loop(path: Path) -> None:
    path.symlink_to(path)


def bad_process_file(path: Path) -> None:
    path.symlink_to("/proc/self/maps")


def bad_size(path: Path) -> None:
    path.write_bytes(b"HALOPLAN\1\0\0\0")
    os.truncate(path, 1 << 31)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (bad_directory, "the plan is not a file"),
        (bad_fifo, "the plan is not a file"),
        (bad_device, "the plan is not a file"),
        (bad_mode, "the plan cannot be opened"),
        (bad_loop, "the plan cannot be opened"),
        (lambda path: None, "the plan cannot be opened"),
        (bad_process_file, "the plan is empty"),
        (bad_size, "the plan"),
    ],
    ids=["directory", "fifo", "device", "unreadable", "loop", "missing", "process file", "huge"],
)
def test_what_is_no_plan_costs_one_sentence(
    steady: Steady, tmp_path: Path, make: Callable[[Path], None], sentence: str
) -> None:
    """Nor does it cost time or memory: nobody waits for a FIFO's writer or reads two gigabytes."""
    path = tmp_path / "odd.plan"
    make(path)
    done = run_with_plan(steady, path)
    outcome = outcome_of(done.returncode, done.stdout, done.stderr)
    assert outcome.status == 0 and outcome.before == 0
    assert outcome.stderr.startswith(f"halo: {sentence}") and outcome.stderr.count("\n") == 1
    assert outcome.peak < 64 << 10


def test_a_plan_may_vanish_while_it_is_used(steady: Steady, tmp_path: Path) -> None:
    """Modules that come later are looked up in what was read at the start."""
    plan = changed(steady, tmp_path, lambda plan: plan)
    outcome = steady.outcome("unlink", "load", plan=plan)
    assert not plan.exists()
    assert outcome.fine and outcome.after == 2 * COUNT


def test_a_plan_may_be_replaced_while_it_is_used(steady: Steady, tmp_path: Path) -> None:
    plan = changed(steady, tmp_path, lambda plan: plan)
    other = tmp_path / "other.plan"
    other.write_bytes(b"no plan at all")
    outcome = steady.outcome("replace", other, "load", plan=plan)
    assert plan.read_bytes() == b"no plan at all"
    assert outcome.fine and outcome.after == 2 * COUNT


# Row 30: resident memory and huge pages.


def with_huge_pages(wanted: bool) -> Callable[[Plan], Plan]:
    return lambda plan: replace(
        plan, groups=tuple(group._replace(huge_pages=wanted) for group in plan.groups)
    )


def test_resident_memory_is_bounded(steady: Steady, tmp_path: Path) -> None:
    """Row 30: a tenth more than without the runtime, or 256 KiB a group and thread."""
    plan = changed(steady, tmp_path, with_huge_pages(False))
    alone = steady.alone(MANY)
    without = outcome_of(alone.status, alone.stdout, alone.stderr)
    outcome = steady.outcome(plan=plan, count=MANY)
    assert outcome.fine and outcome.after == 2 * MANY
    groups = len(read_plan(plan).groups)
    assert outcome.peak <= without.peak + max(without.peak // 10, 2 * 256 * groups)


@pytest.mark.parametrize("wanted", [False, True], ids=["none", "all"])
def test_huge_pages_only_where_the_plan_asks(steady: Steady, tmp_path: Path, wanted: bool) -> None:
    """Row 30. A heap has to be large before it gets them."""
    plan = changed(steady, tmp_path, with_huge_pages(wanted))
    count = 500000
    outcome = steady.outcome("huge", plan=plan, count=count)
    assert outcome.fine and outcome.after == 2 * count
    assert (outcome.huge > 0) == wanted
