"""Records small programs and looks at the parts they leave."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from engines import ENGINE_NAMES, ENGINES, needs_qemu

Json = dict[str, Any]


@dataclass(frozen=True)
class Recording:
    run: subprocess.CompletedProcess[str]
    parts: list[Json]  # by pid

    @property
    def part(self) -> Json:
        assert len(self.parts) == 1
        return self.parts[0]


@dataclass(frozen=True)
class Workshop:
    folder: Path
    engine: str

    def build(self, source: str, *flags: str, name: str = "prog", suffix: str = ".c") -> Path:
        path = self.folder / (name + suffix)
        path.write_text(source)
        binary = self.folder / name
        compiler = "g++" if suffix == ".cc" else "gcc"
        base = [compiler, "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-w"]
        # The compiler may leave out allocations whose contents it finds unused.
        allocators = ("malloc", "calloc", "realloc", "free")
        base += ["-fno-allocation-dce", *(f"-fno-builtin-{name}" for name in allocators)]
        subprocess.run([*base, path, "-o", binary, *flags], check=True)
        return binary

    def record(
        self,
        *command: str | Path,
        stdin: str = "",
        options: str = "",
        out: str = "",
        limit: int | None = None,
    ) -> Recording:
        """`limit`: on the address space, in bytes."""
        for old in self.folder.glob("part.*"):
            old.unlink()

        run = ENGINES[self.engine](
            [str(word) for word in command],
            self.folder,
            stdin,
            options,
            out or str(self.folder / "part"),
            limit,
        )
        assert not list(self.folder.glob("part.*.tmp"))
        parts = [json.loads(path.read_text()) for path in self.folder.glob("part.*.json")]
        for part in parts:
            check_part(part)
            assert part["producer"] == self.engine
        return Recording(run, sorted(parts, key=lambda part: part["pid"]))


@pytest.fixture(params=ENGINE_NAMES)
def workshop(tmp_path: Path, request: pytest.FixtureRequest) -> Workshop:
    return Workshop(tmp_path, request.param)


def check_part(part: Json) -> None:
    """The invariants of any part (docs/profile-format.md)."""
    assert (part["format"], part["version"]) == ("halo-profile", 1)
    assert part["nodes"][0] == [0, -1]
    for at, (parent, frame) in enumerate(part["nodes"][1:], start=1):
        assert parent < at and 0 <= frame < len(part["frames"])
    for module, _offset, distance in part["frames"]:
        assert -1 <= module < len(part["modules"])
        assert distance >= -1 and distance % 8 in (0, 7)
    for context in part["contexts"]:
        frames = stack(part, context)
        assert len(frames) == len(set(frames)), "a reduced stack repeats a call site"
        assert sum(count for _, count in context["sizes"]) <= context["allocations"]
    for a, b, weight in part["edges"]:
        assert 0 <= a <= b < len(part["contexts"]) and weight > 0
    totals = part["totals"]
    for key in ("allocations", "frees", "accesses"):
        assert totals[key] == sum(context[key] for context in part["contexts"])
    assert totals["machine_accesses"] >= totals["accesses"]


def stack(part: Json, context: Json) -> list[int]:
    """Frame numbers, innermost first."""
    node, frames = context["node"], []
    while node:
        node, frame = part["nodes"][node]
        frames.append(frame)
    return frames


def symbols(binary: Path) -> list[tuple[int, int, str]]:
    lines = subprocess.run(["nm", "-S", binary], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    return [(int(r[0], 16), int(r[1], 16), r[3]) for r in rows if len(r) == 4]


def names(part: Json, context: Json, binary: Path, table: Path | None = None) -> list[str]:
    """The functions of this binary on the context's stack, innermost first."""
    known = symbols(table or binary)
    result = []
    for frame in stack(part, context):
        module, offset, _ = part["frames"][frame]
        if module < 0 or part["modules"][module]["path"] != str(binary):
            continue
        result += [n for start, size, n in known if start < offset <= start + size]
    return [name for name in result if name != "_start"]


def contexts_of(part: Json, binary: Path, caller: str) -> list[Json]:
    """The contexts whose malloc was called by this function of the binary."""
    return [c for c in part["contexts"] if names(part, c, binary)[:1] == [caller]]


def allocations_by_stack(part: Json, binary: Path, caller: str) -> dict[tuple[str, ...], int]:
    counts: Counter[tuple[str, ...]] = Counter()
    for context in contexts_of(part, binary, caller):
        counts[tuple(names(part, context, binary))] += context["allocations"]
    return dict(counts)


COUNTING = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *small(void) { return malloc(24); }
void *zeroed(void) { return calloc(5, 20); }
void *big(void) { return malloc(100000); }
int main(void) {
  char *kept[10];
  for (int i = 0; i < 10; i++) { kept[i] = small(); *kept[i] = 1; }
  char *p = zeroed(); p[99] = 1; p[0] = 2;
  p = realloc(p, 300); p[299] = 1;
  memset(big(), 1, 100000);
  for (int i = 0; i < 4; i++) free(kept[i]);
  char line[100];
  while (fgets(line, sizeof line, stdin)) printf("got %s", line);
  fprintf(stderr, "done\\n");
  return 42;
}
"""


@pytest.mark.parametrize("flags", [(), ("-no-pie",), ("-O2",), ("-fno-omit-frame-pointer",)])
def test_sizes_counts_and_streams(workshop: Workshop, flags: tuple[str, ...]) -> None:
    binary = workshop.build(COUNTING, *flags)
    recording = workshop.record(binary, stdin="one\ntwo\n")
    assert recording.run.returncode == 42
    assert recording.run.stdout == "got one\ngot two\n"
    assert recording.run.stderr == "done\n"
    part = recording.part
    [small] = contexts_of(part, binary, "small")
    assert (small["allocations"], small["frees"], small["bytes"]) == (10, 4, 240)
    assert (small["min_size"], small["max_size"], small["sizes"]) == (24, 24, [[24, 10]])
    assert (small["peak_live_bytes"], small["accesses"]) == (240, 10)
    [zeroed] = contexts_of(part, binary, "zeroed")
    assert (zeroed["bytes"], zeroed["frees"], zeroed["accesses"]) == (100, 1, 1)
    [grown] = [c for c in contexts_of(part, binary, "main") if c["max_size"] == 300]
    assert (grown["allocations"], grown["accesses"]) == (1, 1)
    assert part["totals"]["untracked"] == 1
    assert not contexts_of(part, binary, "big")
    [module] = [m for m in part["modules"] if m["path"] == str(binary)]
    assert len(module["build_id"]) == 40


def test_stripped_binary(workshop: Workshop) -> None:
    table = workshop.build(COUNTING)
    binary = table.with_name("stripped")
    subprocess.run(["strip", "-s", table, "-o", binary], check=True)
    part = workshop.record(binary).part
    [small] = [c for c in part["contexts"] if names(part, c, binary, table)[:1] == ["small"]]
    assert names(part, small, binary, table) == ["small", "main"]
    assert small["allocations"] == 10


def test_recursion_is_reduced_and_distances_are_constant(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        void leaf(void) { *(volatile char *)malloc(8) = 1; }
        void b(int n);
        void a(int n) { if (n) b(n - 1); else leaf(); }
        void b(int n) { if (n) a(n - 1); else leaf(); }
        int main(void) { for (int n = 0; n < 2000; n++) a(n); }
    """)
    part = workshop.record(binary).part
    assert allocations_by_stack(part, binary, "leaf") == {
        ("leaf", "a", "main"): 1,
        ("leaf", "b", "a", "main"): 1,
        ("leaf", "a", "b", "a", "main"): 999,
        ("leaf", "b", "a", "b", "main"): 999,
    }
    [one, *_] = contexts_of(part, binary, "leaf")
    innermost = part["frames"][stack(part, one)[0]]
    assert innermost[2] > 0, "the caller's frame has a constant size"


def test_longjmp_and_exceptions_leave_no_frames(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <setjmp.h>
        #include <stdlib.h>
        #include <stdexcept>
        jmp_buf env;
        extern "C" {
        void made_after(void) { *(volatile char *)malloc(8) = 1; }
        void jumper(int n) { if (n) jumper(n - 1); longjmp(env, 1); }
        void thrower(int n) { if (n) thrower(n - 1); throw std::runtime_error("x"); }
        void jump(void) { if (!setjmp(env)) jumper(10); made_after(); }
        void raise_one(void) { try { thrower(10); } catch (std::exception &) {} made_after(); }
        }
        int main() { for (int i = 0; i < 3; i++) { jump(); raise_one(); } }
        """,
        suffix=".cc",
    )
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made_after")
    assert stacks == {("made_after", "jump", "main"): 3, ("made_after", "raise_one", "main"): 3}


def test_operator_new_forms(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <new>
        #include <cstdio>
        struct alignas(64) Wide { char data[64]; };
        struct Plain { long v[5]; };
        extern "C" void plain() { for (int i = 0; i < 5; i++) delete new Plain(); }
        extern "C" void wide() { for (int i = 0; i < 3; i++) delete new Wide(); }
        extern "C" void many() { delete[] new int[10]; }
        extern "C" void quiet() { operator delete(new (std::nothrow) Plain, std::nothrow); }
        extern "C" void hopeless() {
          try { operator new(1ul << 62); } catch (std::bad_alloc &) { puts("bad_alloc"); }
          if (!operator new(1ul << 62, std::nothrow)) puts("null");
        }
        int main() { plain(); wide(); many(); quiet(); hopeless(); }
        """,
        suffix=".cc",
    )
    recording = workshop.record(binary)
    assert recording.run.stdout == "bad_alloc\nnull\n"
    part = recording.part
    expected = {"plain": (5, 5, 200), "wide": (3, 3, 192), "many": (1, 1, 40), "quiet": (1, 1, 40)}
    for caller, counts in expected.items():
        [context] = contexts_of(part, binary, caller)
        assert (context["allocations"], context["frees"], context["bytes"]) == counts


def test_failed_realloc_keeps_the_object(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <errno.h>
        int main(void) {
          volatile char *p = malloc(32), *q = malloc(32);
          p[0] = 1; q[0] = 1;
          errno = 0;
          if (realloc((void *)p, 1ul << 62) || errno != ENOMEM) return 1;
          p[1] = 1; q[1] = 1;
          return 0;
        }
    """)
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    contexts = contexts_of(recording.part, binary, "main")
    counts = [(c["allocations"], c["frees"], c["accesses"]) for c in contexts]
    assert counts == [(1, 0, 2), (1, 0, 2)]


def test_alignment_evidence(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <emmintrin.h>
        #include <stdlib.h>
        double *p;
        void loose(void) { p = malloc(32); _mm_storeu_pd(p, _mm_set1_pd(1)); }
        void strict(void) { p = malloc(32); _mm_store_pd(p, _mm_set1_pd(1)); }
        int main(void) { loose(); strict(); }
    """)
    part = workshop.record(binary).part
    assert [c["alignment"] for c in contexts_of(part, binary, "loose")] == [0]
    assert [c["alignment"] for c in contexts_of(part, binary, "strict")] == [16]


THREADS = """
#include <pthread.h>
#include <stdlib.h>
struct item { struct item *next; long value; };
static struct item *queue; static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
struct item *make(void) { return malloc(sizeof(struct item)); }
void *produce(void *n) {
  for (long i = 0; i < 5000; i++) {
    struct item *item = make(); item->value = i;
    pthread_mutex_lock(&lock); item->next = queue; queue = item; pthread_mutex_unlock(&lock);
  }
  __sync_fetch_and_add(&done, 1);
}
void *consume(void *n) {
  for (;;) {
    int last = __sync_fetch_and_add(&done, 0) == 4;
    pthread_mutex_lock(&lock);
    struct item *item = queue; if (item) queue = item->next;
    pthread_mutex_unlock(&lock);
    if (item) { item->value++; free(item); } else if (last) return 0;
  }
}
int main(void) {
  pthread_t t[8];
  for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, i < 4 ? produce : consume, 0);
  for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
  return 0;
}
"""


def test_objects_passed_between_threads(workshop: Workshop) -> None:
    binary = workshop.build(THREADS, "-pthread")
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    [make] = contexts_of(recording.part, binary, "make")
    assert (make["allocations"], make["frees"], make["bytes"]) == (20000, 20000, 320000)
    # Each is written by its producer and its consumer: none is lost to a wrong order.
    assert make["accesses"] >= 2 * 20000


def test_many_short_threads(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <pthread.h>
        #include <stdlib.h>
        void *work(void *n) { volatile long *p = malloc(48); *p = 1; free((void *)p); return 0; }
        int main(void) {
          pthread_t t;
          for (int i = 0; i < 300; i++) { pthread_create(&t, 0, work, 0); pthread_join(t, 0); }
        }
    """,
        "-pthread",
    )
    part = workshop.record(binary).part
    [work] = contexts_of(part, binary, "work")
    assert (work["allocations"], work["frees"], work["accesses"]) == (300, 300, 300)


def test_fork(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void *before(void) { return malloc(40); }
        void *child_only(void) { return malloc(56); }
        int main(void) {
          volatile long *kept[50];
          for (int i = 0; i < 50; i++) { kept[i] = before(); *kept[i] = 1; }
          if (fork() == 0) {
            for (int i = 0; i < 50; i++) *kept[i] = 2;
            for (int i = 0; i < 7; i++) *(volatile char *)child_only() = 1;
            for (int i = 0; i < 50; i++) free((void *)kept[i]);
            exit(5);
          }
          int status; wait(&status);
          for (int i = 0; i < 20; i++) *kept[i] = 3;
          return WEXITSTATUS(status);
        }
    """)
    recording = workshop.record(binary)
    assert recording.run.returncode == 5
    parent, child = recording.parts
    [before] = contexts_of(parent, binary, "before")
    assert (before["allocations"], before["frees"], before["accesses"]) == (50, 0, 50 + 20)
    assert not contexts_of(parent, binary, "child_only")
    [before] = contexts_of(child, binary, "before")
    assert (before["allocations"], before["frees"], before["accesses"]) == (0, 50, 50)
    [own] = contexts_of(child, binary, "child_only")
    assert (own["allocations"], own["accesses"]) == (7, 7)


def test_fork_with_threads_that_allocate(workshop: Workshop) -> None:
    binary = workshop.build(
        """
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile int stop;
        void *churn(void *n) { while (!stop) free(malloc(32)); return 0; }
        int main(void) {
          pthread_t t[3];
          for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, churn, 0);
          for (int i = 0; i < 20; i++) {
            if (fork() == 0) { for (int k = 0; k < 1000; k++) free(malloc(64)); _exit(0); }
            int status; wait(&status); if (status) return 1;
          }
          stop = 1;
          for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
          return 0;
        }
    """,
        "-pthread",
    )
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    assert len(recording.parts) == 21
    assert sum(part["totals"]["allocations"] == 1000 for part in recording.parts) == 20


def test_a_child_has_no_edge_to_what_only_its_parent_accessed(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <emmintrin.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void *f(void) { return malloc(32); }
        void *g(void) { return malloc(48); }
        int main(void) {
          volatile char *a = f(), *b = g();
          a[0] = 1;
          if (fork() == 0) { b[0] = 1; *(volatile __m128i *)b = _mm_set1_epi8(2); exit(0); }
          int status; wait(&status);
          a[1] = b[1] = 2;
          return status;
        }
    """)
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    parent, child = recording.parts
    assert len(parent["edges"]) == 1
    assert child["edges"] == []
    [g] = contexts_of(child, binary, "g")
    assert (g["allocations"], g["accesses"], g["alignment"]) == (0, 1, 16)
    assert not contexts_of(child, binary, "f")


@pytest.mark.parametrize("merge", ["on", "off"])
def test_a_child_counts_its_first_access_to_the_object_accessed_last(
    workshop: Workshop, merge: str
) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        void *f(void) { return malloc(32); }
        int main(void) {
          volatile char *a = f();
          for (int i = 0; i < 9; i++) a[0] = 1;
          long child = syscall(SYS_fork);  // libc's would touch the heap
          if (child == 0) { a[0] = 1; _exit(0); }
          int status; wait(&status);
          return status;
        }
    """)
    recording = workshop.record(binary, options=f",merge={merge}")
    parent, child = recording.parts
    assert [c["accesses"] for c in contexts_of(parent, binary, "f")] == [1]
    assert [c["accesses"] for c in contexts_of(child, binary, "f")] == [1]
    assert child["totals"]["machine_accesses"] == 1


def test_fork_after_joined_threads(workshop: Workshop) -> None:
    """The ended thread's place in the child goes to one of its threads, not to two."""
    binary = workshop.build(
        """
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static pthread_barrier_t barrier;
        void *work(void *count) {
          if (count != (void *)1) pthread_barrier_wait(&barrier);
          for (long i = 0; i < (long)count; i++) {
            volatile long *p = malloc(48); *p = i; free((void *)p);
          }
          return 0;
        }
        void start(int threads, long count) {
          pthread_t t[4];
          for (int i = 0; i < threads; i++) pthread_create(&t[i], 0, work, (void *)count);
          for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
        }
        int main(void) {
          pthread_barrier_init(&barrier, 0, 4);
          start(3, 1);
          if (fork() == 0) {
            for (int i = 0; i < 30000; i++) free(malloc(64));  // more than a ring holds
            start(4, 20000);
            exit(0);
          }
          int status; wait(&status);
          return status != 0;
        }
    """,
        "-pthread",
    )
    recording = workshop.record(binary)
    assert recording.run.returncode == 0
    parent, child = recording.parts
    [work] = contexts_of(parent, binary, "work")
    assert (work["allocations"], work["frees"]) == (3, 3)
    [work] = contexts_of(child, binary, "work")
    assert (work["allocations"], work["frees"], work["accesses"]) == (80000, 80000, 80000)


def test_a_path_that_is_not_utf8(workshop: Workshop) -> None:
    folder = workshop.folder / os.fsdecode(b"sm\xc3\xb8r\xff\xed\xa0\x80")
    folder.mkdir()
    binary = workshop.build(COUNTING).rename(folder / "prog")
    part = workshop.record(binary).part
    shown = f"{workshop.folder}/sm\u00f8r" + 4 * "\ufffd" + "/prog"
    assert shown in [module["path"] for module in part["modules"]]


def test_a_library_that_is_removed_while_it_is_used(workshop: Workshop) -> None:
    library = workshop.build(PLUGIN, "-shared", "-fPIC", "-DSIZE=64", name="one.so")
    binary = workshop.build("""
        #include <dlfcn.h>
        #include <stdio.h>
        int main(int argc, char **argv) {
          void *lib = dlopen(argv[1], RTLD_NOW);
          remove(argv[1]);
          void *(*make)(void) = (void *(*)(void))dlsym(lib, "make");
          *(volatile char *)make() = 1;
        }
    """)
    part = workshop.record(binary, library).part
    assert not library.exists()
    assert str(library) in [module["path"] for module in part["modules"]]


PLUGIN = """
#include <stdlib.h>
void *deep(int n) {
  volatile char room[SIZE];
  for (int i = 0; i < SIZE; i++) room[i] = 0;
  return malloc(n);
}
void *make(void) { return deep(SIZE); }
"""


def test_dlclose_and_another_library_at_the_same_place(workshop: Workshop) -> None:
    # Libraries that ask for one address, which glibc grants them in a program that is not PIE.
    flags = ["-shared", "-fPIC", "-Wl,-Ttext-segment=0x20000000"]
    first = workshop.build(PLUGIN, *flags, "-DSIZE=64", name="one.so")
    second = workshop.build(PLUGIN, *flags, "-DSIZE=96", name="two.so")
    binary = workshop.build(
        """
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
          void *base[2];
          for (int i = 0; i < 6; i++) {
            void *lib = dlopen(argv[1 + i % 2], RTLD_NOW);
            void *(*make)(void) = (void *(*)(void))dlsym(lib, "make");
            base[i % 2] = make;
            for (int k = 0; k < 5; k++) *(volatile char *)make() = 1;
            dlclose(lib);
          }
          puts(base[0] == base[1] ? "same" : "different");
        }
    """,
        "-no-pie",
    )
    recording = workshop.record(binary, first, second)
    assert recording.run.stdout == "same\n"
    part = recording.part
    for library in (first, second):
        [context] = contexts_of(part, library, "deep")
        assert names(part, context, library) == ["deep", "make"]
        assert context["allocations"] == 15


def test_children_by_exec_run_natively(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
          *(volatile char *)malloc(77) = 1;
          if (argc > 1 && execl("/nonexistent", "x", NULL) == -1)
            execlp(argv[1], argv[1], "replaced", NULL);
          if (system("echo shell; exit 3") != 3 << 8) return 1;
          FILE *p = popen("cat", "w"); fputs("piped\\n", p); pclose(p);
          return 9;
        }
    """)
    recording = workshop.record(binary)
    assert (recording.run.returncode, recording.run.stderr) == (9, "")
    assert recording.run.stdout == "shell\npiped\n"
    # A forked child may have freed something before it called exec, and then leaves a part too.
    assert len([part for part in recording.parts if allocates(part, 77)]) == 1
    recording = workshop.record(binary, "echo")
    assert (recording.run.returncode, recording.run.stdout) == (0, "replaced\n")
    assert allocates(recording.part, 77)


def allocates(part: Json, size: int) -> bool:
    return any(c["max_size"] == size and c["allocations"] for c in part["contexts"])


DEATHS = {
    "segv": ("*(volatile int *)8 = 1;", -signal.SIGSEGV),
    "abort": ("abort();", -signal.SIGABRT),
    "term": ("kill(getpid(), SIGTERM); pause();", -signal.SIGTERM),
    "_exit": ("_exit(4);", 4),
    "quick_exit": ("quick_exit(6);", 6),
    "thread": ("pthread_t t; pthread_create(&t, 0, leave, 0); pause();", 8),
    "main_thread_exit": ("pthread_t t; pthread_create(&t, 0, later, 0); pthread_exit(0);", 0),
}


@pytest.mark.parametrize("how", DEATHS)
def test_every_way_to_end_leaves_a_part(workshop: Workshop, how: str) -> None:
    code, status = DEATHS[how]
    binary = workshop.build(
        f"""
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <unistd.h>
        void *leave(void *n) {{ exit(8); }}
        void *later(void *n) {{ usleep(50000); *(volatile char *)malloc(91) = 1; return 0; }}
        int main(void) {{ *(volatile char *)malloc(77) = 1; {code} return 1; }}
    """,
        "-pthread",
    )
    recording = workshop.record(binary)
    assert recording.run.returncode == status
    sizes = {context["max_size"] for context in recording.part["contexts"]}
    assert 77 in sizes
    assert how != "main_thread_exit" or 91 in sizes


def test_signal_handler_on_its_own_stack(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <signal.h>
        #include <stdlib.h>
        void made(void) { *(volatile char *)malloc(8) = 1; }
        void handler(int s) { made(); }
        void outer(void) { raise(SIGUSR1); made(); }
        int main(void) {
          stack_t s = {malloc(65536), 0, 65536}; sigaltstack(&s, 0);
          struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
          sigaction(SIGUSR1, &a, 0);
          for (int i = 0; i < 3; i++) outer();
        }
    """)
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made")
    assert stacks == {("made", "handler"): 3, ("made", "outer", "main"): 3}


def test_coroutines_keep_their_stacks(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <ucontext.h>
        ucontext_t home, co[2];
        void made(void) { *(volatile char *)malloc(8) = 1; }
        void yield_from(int n) { swapcontext(&co[n], &home); made(); }
        void body(int n) { for (;;) yield_from(n); }
        int main(void) {
          for (int n = 0; n < 2; n++) {
            getcontext(&co[n]);
            co[n].uc_stack.ss_sp = malloc(131072); co[n].uc_stack.ss_size = 131072;
            makecontext(&co[n], (void (*)(void))body, 1, n);
          }
          for (int i = 0; i < 10; i++) { swapcontext(&home, &co[i % 2]); made(); }
        }
    """)
    part = workshop.record(binary).part
    stacks = allocations_by_stack(part, binary, "made")
    assert stacks == {("made", "main"): 10, ("made", "yield_from", "body"): 8}


def test_progress_file(workshop: Workshop) -> None:
    binary = workshop.build(COUNTING)
    progress = workshop.folder / "progress"
    recording = workshop.record(binary, options=f",progress={progress}")
    magic, objects, accesses, instructions, elapsed = struct.unpack("<5Q", progress.read_bytes())
    assert magic == int.from_bytes(b"HLOPROG1", "little")
    assert objects == recording.part["totals"]["allocations"]
    assert accesses > 0 and elapsed > 0
    assert (instructions > 1000) == (workshop.engine == "qemu"), "Valgrind counts when simulating"


FIELDS = """
#include <stdlib.h>
struct item { long a, b, c, d, e, f; };
struct item *make(void) { return malloc(sizeof(struct item)); }
struct item *other(void) { return malloc(sizeof(struct item)); }
int main(void) {
  volatile struct item *one = make(), *two = other();
  for (int i = 0; i < 1000; i++) {
    one->a++; one->b++; one->a++; one->c++; one->d++; one->e++; one->f++;
    two->e++; two->f++; two->e++; two->b++;
  }
}
"""


def test_merging_repeats_changes_no_result(workshop: Workshop) -> None:
    binary = workshop.build(FIELDS)
    merged, full = (workshop.record(binary, options=f",merge={m}").part for m in ("on", "off"))
    for part in (merged, full):
        del part["pid"], part["recorder"]
        [make] = contexts_of(part, binary, "make")
        assert make["accesses"] == 1000
        assert part["totals"]["machine_accesses"] >= 10 * part["totals"]["accesses"]
    assert merged == full


def test_merged_repeats_travel_as_one_record(workshop: Workshop) -> None:
    """So that the test above compares two different streams."""
    binary, progress = workshop.build(FIELDS), workshop.folder / "progress"
    records = []
    for merge in ("on", "off"):
        workshop.record(binary, options=f",merge={merge},progress={progress}")
        records.append(struct.unpack("<5Q", progress.read_bytes())[2])
    assert 0 < 2 * records[0] < records[1]


BAD_OPTIONS = [",distance=x", ",nonsense=1", ",max_object=99999999999", ",merge=foo"]


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options_are_refused(workshop: Workshop, options: str) -> None:
    recording = workshop.record("/bin/true", options=options)
    assert recording.run.returncode != 0
    assert recording.run.stderr.startswith("halo-recorder: not understood: ")


def test_a_relative_out_survives_a_change_of_directory(workshop: Workshop) -> None:
    binary = workshop.build("""
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) { *(volatile char *)malloc(77) = 1; return chdir("/"); }
    """)
    recording = workshop.record(binary, out="part")
    assert recording.run.returncode == 0
    assert allocates(recording.part, 77)


@needs_qemu
@pytest.mark.parametrize("workshop", ["qemu"], indirect=True)
def test_too_little_address_space_is_said_at_once(workshop: Workshop) -> None:
    recording = workshop.record("/bin/true", limit=1 << 30)
    assert recording.run.returncode > 0
    [line, *_] = recording.run.stderr.splitlines()
    assert line.startswith("halo-recorder: cannot start: too little address space")
    assert not recording.parts


@pytest.mark.parametrize("workshop", ["valgrind"], indirect=True)
def test_little_address_space_is_enough_for_the_translator(workshop: Workshop) -> None:
    binary = workshop.build(COUNTING)
    recording = workshop.record(binary, limit=1 << 30)
    assert recording.run.returncode == 42
    assert recording.part["totals"]["accesses"] > 0
