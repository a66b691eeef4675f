"""The engine `native` beside restartable sequences, which the kernel restarts at one place only."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halo.record.profile import read_profile
from support.command import compile_c, halo

# Each thread adds to a counter of its processor, without a lock: preempted, it begins again.
COUNTERS = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>

enum { kThreads = 8, kRounds = 200000 };
static struct { volatile long value; char rest[56]; } counters[1024];
static volatile long *shared;

static int add(struct rseq *own) {
  const uint32_t processor = own->cpu_id_start;
  volatile long *counter = &counters[processor].value;
  asm goto(
      ".pushsection __rseq_cs, \"aw\"\n"
      ".balign 32\n"
      "3: .long 0, 0\n"
      ".quad 1f, 2f - 1f, 4f\n"
      ".popsection\n"
      "lea 3b(%%rip), %%rax\n"
      "mov %%rax, %[sequence]\n"
      "1: cmp %[processor], %[current]\n"
      "jne 4f\n"
      "mov (%[counter]), %%rcx\n"
      "mov $1000, %%edx\n"
      "5: mov (%[counter]), %%rax\n"
      "dec %%edx\n"
      "jnz 5b\n"
      "inc %%rcx\n"
      "mov %%rcx, (%[counter])\n"
      "2:\n"
      ".pushsection __rseq_failure, \"ax\"\n"
      ".byte 0x0f, 0xb9, 0x3d\n"
      ".long %c[signature]\n"
      "4: jmp %l[restarted]\n"
      ".popsection\n"
      :
      : [sequence] "m"(own->rseq_cs), [current] "m"(own->cpu_id), [processor] "r"(processor),
        [counter] "r"(counter), [signature] "i"(RSEQ_SIG)
      : "rax", "rcx", "rdx", "memory", "cc"
      : restarted);
  return 1;
restarted:
  return 0;
}

static void *work(void *unused) {
  struct rseq *own = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
  for (long i = 0; i < kRounds; ++i) {
    for (int j = 0; j < 200; ++j) shared[j % 8]++;
    while (!add(own)) {}
  }
  return unused;
}

int main(void) {
  shared = calloc(8, sizeof *shared);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], 0);
  long sum = 0;
  for (int i = 0; i < 1024; ++i) sum += counters[i].value;
  printf("%ld lost\n", 1L * kThreads * kRounds - sum);
}
"""


BY_DISTANCE = r"""      "lea 3b(%%rip), %%rax\n"
      "mov %%rax, %[sequence]\n"
"""
AS_CONSTANT = r"""      "movq $3b, %[sequence]\n"
"""


@pytest.mark.parametrize(("taken", "kind"), [(BY_DISTANCE, "-pie"), (AS_CONSTANT, "-no-pie")])
def test_no_update_in_a_restartable_sequence_is_lost(tmp_path: Path, taken: str, kind: str) -> None:
    assert BY_DISTANCE in COUNTERS
    source = COUNTERS.replace(BY_DISTANCE, taken)
    relocation = "-fno-pie" if kind == "-no-pie" else "-fpie"
    program = compile_c(source, tmp_path / "counters", "-O2", "-pthread", relocation, kind)
    native = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    assert native.stdout == "0 lost\n"
    profile = tmp_path / "program.profile"
    found = halo("record", "--engine", "native", "-o", str(profile), "--", str(program))
    assert (found.status, found.stdout) == (0, "0 lost\n"), found.stderr
    assert sum(each.accesses for each in read_profile(profile).contexts) > 100, "bursts elsewhere"
