"""The engine `native` beside a program's own signals, masks and handlers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.record.profile import read_profile
from support.command import compile_c, halo

LIST = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
struct node { struct node *next; long value; };
static struct node *head;
static volatile long sum;
static void make_list(int count) {
  for (int i = 0; i < count; ++i) {
    struct node *made = malloc(sizeof *made);
    *made = (struct node){head, i};
    head = made;
  }
}
static void walk_list(int times) {
  while (times--) for (struct node *at = head; at; at = at->next) sum += at->value;
}
static void on(int number, void *handler, int flags, int fills) {
  struct sigaction action = {.sa_flags = flags};
  if (flags & SA_SIGINFO) action.sa_sigaction = handler; else action.sa_handler = handler;
  if (fills) sigfillset(&action.sa_mask);
  sigaction(number, &action, 0);
}
static double now(int clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}
"""

# Handlers run on the program's stack, may need much of it, and may leave by a jump.
JUMPS = """
static sigjmp_buf back;
static volatile long calls, elsewhere;
static char *base;
static void handler(int number) {
  volatile char large[160 << 10];
  memset((void *)large, number, sizeof large);
  calls++;
  elsewhere += base - (char *)large > 8 << 20 || base < (char *)large;
  if (calls % 2) siglongjmp(back, 1);
}
int main(void) {
  char here;
  base = &here + 4096;
  make_list(1000);
  on(SIGALRM, handler, 0, 0);
  struct itimerval often = {{0, 1000}, {0, 1000}};
  double end = now(CLOCK_MONOTONIC) + 1;
  setitimer(ITIMER_REAL, &often, 0);
  sigsetjmp(back, 1);
  while (now(CLOCK_MONOTONIC) < end) walk_list(10);
  signal(SIGALRM, SIG_IGN);
  printf("%d %ld\\n", calls > 100, elsewhere);
}
"""

# A thread waits in a system call, and its handler allocates there.
ALLOCATES = """
static int ends[2];
static char buffer[1 << 18];
static void handler(int number) { free(malloc(24)); }
static void *work(void *own) {
  char byte;
  int zeroes = open("/dev/zero", O_RDONLY);
  while (read(ends[0], &byte, 1) == 1) read(zeroes, buffer, sizeof buffer);
  return 0;
}
int main(void) {
  pthread_t thread;
  pipe(ends);
  on(SIGUSR1, handler, SA_RESTART, 0);
  pthread_create(&thread, 0, work, 0);
  for (int i = 0; i < 2000; ++i) {
    usleep(100);
    write(ends[1], "x", 1);
  }
  usleep(20000);
  pthread_kill(thread, SIGUSR1);
  usleep(20000);
  puts("done");
}
"""

# A handler that blocks all signals ends a system call.
INTERRUPTS = """
static void handler(int number) {
  double end = now(CLOCK_THREAD_CPUTIME_ID) + 0.01;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) walk_list(1);
}
int main(void) {
  int interrupted = 0;
  make_list(100);
  on(SIGALRM, handler, 0, 1);
  for (int i = 0; i < 15; ++i) {
    struct itimerval once = {{0, 0}, {0, 80000}};
    struct timeval longest = {1, 0};
    setitimer(ITIMER_REAL, &once, 0);
    interrupted += select(0, 0, 0, 0, &longest) == -1 && errno == EINTR;
  }
  printf("%d\\n", interrupted);
}
"""

# A fault that is handled follows code that runs with all signals blocked.
BLOCKS = """
static volatile long faults;
static void handler(int number, siginfo_t *info, void *context) {
  faults++;
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}
int main(void) {
  sigset_t all, before;
  char *page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  make_list(100);
  on(SIGSEGV, handler, SA_SIGINFO, 0);
  sigfillset(&all);
  for (int i = 0; i < 20000; ++i) {
    sigprocmask(SIG_BLOCK, &all, &before);
    walk_list(30);
    sigprocmask(SIG_SETMASK, &before, 0);
    asm volatile("movb (%0), %%al" : : "D"(page) : "rax");
  }
  printf("%ld\\n", faults);
}
"""

# A stack grows by faults of calls.
GROWS = """
static volatile long faults;
static void handler(int number, siginfo_t *info, void *context) {
  faults++;
  mprotect((void *)((unsigned long)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE);
}
extern void run(char *top, long depth);
asm("run: mov %rsp, %rax; mov %rdi, %rsp; push %rax; mov %rsi, %rdi; call deeper; pop %rsp; ret;"
    "deeper: dec %rdi; jz 1f; call deeper; 1: ret");
int main(void) {
  enum { SIZE = 1 << 20 };
  char *stack = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t other = {malloc(65536), 0, 65536};
  sigaltstack(&other, 0);
  on(SIGSEGV, handler, SA_SIGINFO | SA_ONSTACK, 0);
  for (int i = 0; i < 5000; ++i) {
    madvise(stack, SIZE, MADV_DONTNEED);
    mprotect(stack, SIZE - 4096, PROT_NONE);
    run(stack + SIZE - 64, 2500);
  }
  printf("%ld\\n", faults);
}
"""

# A thread that waits is cancelled, and its cleanup runs.
CANCELS = """
static int ends[2];
static void clean(void *done) { *(int *)done = 1; }
static void *work(void *done) {
  char byte;
  pthread_cleanup_push(clean, done);
  walk_list(30000);
  while (read(ends[0], &byte, 1) == 1) {}
  pthread_cleanup_pop(0);
  return 0;
}
int main(void) {
  int cleaned = 0;
  make_list(1000);
  pipe(ends);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    void *result;
    int done = 0;
    pthread_create(&thread, 0, work, &done);
    for (int turn = 0; turn < 100; ++turn) write(ends[1], "x", 1);
    usleep(100000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    cleaned += done && result == PTHREAD_CANCELED;
  }
  printf("%d\\n", cleaned);
}
"""

PROGRAMS = {
    "jumps": (JUMPS, "1 0\n"),
    "allocates": (ALLOCATES, "done\n"),
    "interrupts": (INTERRUPTS, "15\n"),
    "blocks": (BLOCKS, "20000\n"),
    "grows": (GROWS, None),
    "cancels": (CANCELS, "10\n"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_what_they_do_natively(tmp_path: Path, name: str) -> None:
    source, expected = PROGRAMS[name]
    program = compile_c(LIST + source, tmp_path / name, "-O1", "-pthread", "-w")
    if expected is None:
        expected = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    outcome = halo("record", "--engine", "native", "--", str(program), cwd=tmp_path)
    assert (outcome.status, outcome.stdout) == (0, expected), outcome.stderr


DIES = """
static void *walk(void *own) { for (;;) walk_list(1); }
static void *churn(void *own) {
  for (;;) {
    volatile long *made = malloc(32);
    *made = 1;
    free((void *)made);
  }
}
int main(void) {
  pthread_t one, other;
  make_list(1000);
  pthread_create(&one, 0, walk, 0);
  pthread_create(&other, 0, churn, 0);
  usleep(100000);
  kill(getpid(), SIGTERM);
  pause();
}
"""


def test_a_process_that_dies_in_a_burst_leaves_its_profile(tmp_path: Path) -> None:
    program = compile_c(LIST + DIES, tmp_path / "dies", "-O1", "-pthread", "-w")
    for _ in range(5):
        outcome = halo("record", "--engine", "native", "--", str(program), cwd=tmp_path)
        assert outcome.status == -15
        assert read_profile(tmp_path / "dies.profile").totals.allocations > 10_000


SIGNALS = """
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static volatile int own, caught;
static sigjmp_buf back;
static void count(int number) { ++own; }
static void leave(int number) { siglongjmp(back, 1); }
int main(void) {
  sigset_t all;
  volatile long *values = calloc(100, sizeof *values);
  signal(60, count);
  signal(SIGSEGV, leave);
  for (volatile int turn = 0; turn < 2000; ++turn) {
    for (int i = 0; i < 20000; ++i) values[i % 100] += i;
    if (sigsetjmp(back, 1) == 0) {
      *(volatile int *)8 = turn;
    } else {
      ++caught;
    }
    if (turn % 100 == 0) raise(60);
  }
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, 0);
  struct timespec little = {0, 1000000};
  int interrupted = 0;
  for (int i = 0; i < 200; ++i) interrupted += nanosleep(&little, 0) != 0;
  printf("%d %d %d\\n", own, caught, interrupted);
}
"""


def test_the_programs_signals_are_its_own(tmp_path: Path) -> None:
    program = compile_c(SIGNALS, tmp_path / "signals")
    outcome = halo("record", "--engine", "native", "--", str(program), cwd=tmp_path)
    assert (outcome.status, outcome.stdout) == (0, "20 2000 0\n"), outcome.stderr
    profile = read_profile(tmp_path / "signals.profile")
    assert profile.totals.machine_accesses > 1_000_000
