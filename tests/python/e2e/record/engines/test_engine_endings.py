"""How recordings by the engine `valgrind` end that cannot go on: a sentence and a status each."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halo.record.profile import read_profile
from support.command import compile_c, halo
from support.recordings import tells_only_its_file, temporary_of

WAITS = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts("ready");
  fflush(stdout);
  for (long i = 0; i < 300000000; ++i) free(malloc(16));
}
"""


def test_a_consumer_that_is_killed_is_said(tmp_path: Path) -> None:
    binary = compile_c(WAITS, tmp_path / "waits", "-O0")
    command = [sys.executable, "-m", "halo", "record", "--engine", "valgrind", "--", str(binary)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        consumer = f"halo-consumer {temporary_of(process.pid)}"
        subprocess.run(["pkill", "-KILL", "-f", consumer], check=True)
        time.sleep(0.5)
        process.terminate()
        said = process.stderr.read()
        assert process.wait(60) == 118
    assert said.count("\n") == 1 and said.startswith("halo: halo-consumer failed")
    assert not list(tmp_path.glob("*.profile"))


@pytest.mark.parametrize(
    ("code", "status"), [("0x62,0xf1,0x7d,0x48,0xef,0xc0", 118), ("0x0f,0x0b", -signal.SIGILL)]
)
def test_an_instruction_that_cannot_be_translated_is_said(
    tmp_path: Path, code: str, status: int
) -> None:
    """One of AVX-512; and one that no processor executes, which is the program's own affair."""
    source = f'int main(void) {{ __asm__ volatile(".byte {code}"); }}'
    binary = compile_c(source, tmp_path / "prog")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == status
    assert ("cannot be translated" in outcome.stderr) == (status == 118)
    assert (tmp_path / "prog.profile").exists() == (status != 118)


def test_sigkill_of_the_program_leaves_what_was_seen(tmp_path: Path) -> None:
    source = """
        #include <signal.h>
        #include <stdlib.h>
        int main(void) {
          for (int i = 0; i < 100; ++i) *(volatile char *)malloc(48) = 1;
          raise(SIGKILL);
        }
    """
    binary = compile_c(source, tmp_path / "dies", "-O0")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == -signal.SIGKILL
    assert read_profile(tmp_path / "dies.profile").totals.allocations >= 100


SANDBOX = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void strict(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); }
#define LET(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \\
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static void filtered(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      LET(SYS_write), LET(SYS_exit), LET(SYS_brk), LET(SYS_mmap), LET(SYS_munmap),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(int count, char **words) {
  char *block = malloc(64);
  if (strcmp(words[1], "strict") == 0) strict(); else filtered();
  for (int i = 0; i < 1000; ++i) ++*(volatile char *)block;
  if (words[1][0] == 'f')
    for (int i = 0; i < 300000; ++i) {
      *(volatile char *)(block = malloc(24)) = 1;
      free(block);
    }
  write(1, "done\\n", 5);
  syscall(SYS_exit, 0);
}
"""


@pytest.mark.parametrize("kind", ["strict", "filtered"])
def test_a_sandbox_that_stops_the_recorder_is_said(tmp_path: Path, kind: str) -> None:
    binary = compile_c(SANDBOX, tmp_path / "sandboxed", "-w")
    assert subprocess.run([str(binary), kind], check=True, capture_output=True).stdout == b"done\n"
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), kind, cwd=tmp_path)
    assert outcome.status == 118
    assert outcome.stderr.count("\n") == 1 and "in a sandbox that it made" in outcome.stderr
    assert not (tmp_path / "sandboxed.profile").exists()


def test_a_sandbox_that_lets_the_recorder_be_is_none_of_its_business(tmp_path: Path) -> None:
    """Here the filter allows all, and the program kills itself."""
    source = """
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/prctl.h>
        int main(void) {
          struct sock_filter rules[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
          struct sock_fprog program = {1, rules};
          prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
          for (int i = 0; i < 100; ++i) *(volatile char *)malloc(48) = 1;
          return 7;
        }
    """
    binary = compile_c(source, tmp_path / "sandboxed", "-O0")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert outcome.status == 7 and tells_only_its_file(outcome.stderr, "sandboxed.profile")
    assert read_profile(tmp_path / "sandboxed.profile").totals.allocations >= 100


TRACES = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    for (int i = 0; i < 100; ++i) *(volatile char *)malloc(48) = 1;
    _exit(3);
  }
  int status, stops = 0;
  waitpid(child, &status, 0);
  for (; WIFSTOPPED(status); ++stops) {
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    waitpid(child, &status, 0);
  }
  printf("%d %d\\n", stops > 0, WEXITSTATUS(status));
}
"""


def test_a_program_that_traces_its_child_is_recorded_with_it(tmp_path: Path) -> None:
    binary = compile_c(TRACES, tmp_path / "traces", "-O0")
    outcome = halo("record", "--engine", "valgrind", "--", str(binary), cwd=tmp_path)
    assert (outcome.status, outcome.stdout) == (0, "1 3\n")
    assert tells_only_its_file(outcome.stderr, "traces.profile")
    assert read_profile(tmp_path / "traces.profile").totals.allocations >= 100
