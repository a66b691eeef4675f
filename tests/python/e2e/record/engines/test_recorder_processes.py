"""Recordings of threads, children, modules that come and go, and every way to end."""

from __future__ import annotations

import signal

import pytest

from support.recordings import (
    Workshop,
    allocates,
    contexts_of,
    names,
)

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


def test_a_child_of_a_thread_starts_threads(workshop: Workshop) -> None:
    """Its first new thread has the number that the parent's main thread has."""
    binary = workshop.build(
        """
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        void *made_by_child(void) { return malloc(48); }
        void *work(void *n) {
          for (int i = 0; i < 9; i++) { volatile char *p = made_by_child(); *p = 1; }
          return 0;
        }
        void *forks(void *status) {
          if (fork() == 0) {
            pthread_t t;
            for (int i = 0; i < 3; i++) { pthread_create(&t, 0, work, 0); pthread_join(t, 0); }
            exit(4);
          }
          wait(status);
          return 0;
        }
        int main(void) {
          int status;
          pthread_t t;
          pthread_create(&t, 0, forks, &status);
          pthread_join(t, 0);
          return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
        }
    """,
        "-pthread",
    )
    recording = workshop.record(binary)
    assert recording.run.returncode == 4
    _, child = recording.parts
    [made] = contexts_of(child, binary, "made_by_child")
    assert (made["allocations"], made["accesses"]) == (27, 27)


FORKS_UNDER_LIMIT = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
void *kept(void) { return malloc(40); }
rlim_t mapped(void) {
  char text[64] = "";
  FILE *file = fopen("/proc/self/statm", "r");
  fgets(text, sizeof text, file);
  fclose(file);
  return atol(text) * 4096UL;
}
int main(int argc, char **argv) {
  volatile char *p[20];
  for (int i = 0; i < 20; i++) { p[i] = kept(); *p[i] = 1; }
  struct rlimit limit = {LIMIT};
  if (setgid(65534) || setuid(65534) || setrlimit(RESOURCE, &limit)) return 7;
  int forked = 0;
  for (int i = 0; i < 40; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 500; k++) { *p[k % 20] = 2; free(malloc(64)); }
      _exit(0);
    }
    if (child > 0) { ++forked; int status; wait(&status); if (status) return 8; }
  }
  for (int i = 0; i < 20; i++) *p[i] = 3;
  return FORKED == (forked != 0) ? 3 : 6;
}
"""


@pytest.mark.parametrize("workshop", ["valgrind"], indirect=True)
@pytest.mark.parametrize(
    ("resource", "limit", "forks"),
    [
        ("RLIMIT_NPROC", "0, 0", False),
        ("RLIMIT_AS", "mapped() + (32 << 20), RLIM_INFINITY", True),
        ("RLIMIT_FSIZE", "1 << 20, 1 << 20", True),
    ],
)
def test_forks_that_fail_or_have_no_channel(
    workshop: Workshop, resource: str, limit: str, forks: bool
) -> None:
    """The parent's profile is whole all the same."""
    source = FORKS_UNDER_LIMIT.replace("LIMIT}", f"{limit}}}").replace("RESOURCE", resource)
    binary = workshop.build(source.replace("FORKED", str(int(forks))))
    recording = workshop.record(binary)
    assert recording.run.returncode == 3
    [made] = contexts_of(recording.parts[0], binary, "kept")
    assert (made["allocations"], made["frees"], made["accesses"]) == (20, 0, 40)


@pytest.mark.parametrize("workshop", ["valgrind"], indirect=True)
def test_children_of_a_program_that_limits_its_files_are_recorded(workshop: Workshop) -> None:
    source = FORKS_UNDER_LIMIT.replace("LIMIT}", "1 << 20, RLIM_INFINITY}")
    source = source.replace("RESOURCE", "RLIMIT_FSIZE").replace("FORKED", "1")
    recording = workshop.record(workshop.build(source))
    assert recording.run.returncode == 3
    assert [part["totals"]["allocations"] >= 500 for part in recording.parts[1:]] == [True] * 40


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
    recording = workshop.record(binary, options=[f"merge={merge}"])
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
