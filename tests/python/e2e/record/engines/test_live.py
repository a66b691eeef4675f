"""Processes that run already: recorded for a while, they go on as before."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from halo.record.profile import SAMPLING, Profile, read_profile
from support.command import compile_c, halo

HALO = (sys.executable, "-m", "halo")

# Two threads allocate, use and free until SIGTERM; then the number of errors is printed. With an
# argument, the process also makes children that do the same for a moment.
SERVICE = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t ends;
static void end(int number) { (void)number; ends = 1; }
static long turn(long size) {
  char *one = malloc(size), *other = malloc(size);
  memset(one, 7, size);
  memcpy(other, one, size);
  long errors = memcmp(one, other, size) != 0;
  free(one);
  free(other);
  return errors;
}
static void *work(void *size) {
  long errors = 0;
  while (!ends) errors += turn((long)size);
  return (void *)errors;
}
int main(int count, char **arguments) {
  (void)arguments;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = end;
  sigaction(SIGTERM, &action, 0);
  pthread_t thread;
  pthread_create(&thread, 0, work, (void *)(long)SIZE_OF_THREAD);
  puts("ready");
  fflush(stdout);
  long errors = 0;
  for (long turns = 0; !ends; ++turns) {
    errors += turn(48);
    if (count < 2 || turns % 400000 != 399999) continue;
    pid_t child = fork();
    if (child == 0) {
      for (int at = 0; at < 1000; ++at) turn(72);
      _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child && !ends) {}
    errors += status != 0;
  }
  void *more;
  pthread_join(thread, &more);
  printf("%ld errors\n", errors + (long)more);
  return 0;
}
"""
SIZE_OF_THREAD = 160


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = (f"-DSIZE_OF_THREAD={SIZE_OF_THREAD}", "-O1", "-pthread", "-fno-builtin")
    return compile_c(SERVICE, tmp_path_factory.mktemp("live") / "service", *flags)


@contextmanager
def running(
    *words: str | Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process that has said that it is ready; it ends without an error."""
    command = [str(word) for word in words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            yield process
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert process.stdout.read() == "0 errors\n"
            assert process.wait() == 0
        finally:
            process.kill()


def recordable(service: Path, *arguments: str) -> list[str]:
    return [*HALO, "exec", "--recordable", "--", str(service), *arguments]


def record(process: subprocess.Popen[str], path: Path, seconds: int = 1) -> Profile:
    done = halo("record", "--pid", str(process.pid), "--seconds", str(seconds), "-o", str(path))
    assert done.status == 0, done.stderr
    return read_profile(path)


def allocations(profile: Profile, size: int) -> int:
    return sum(it.allocations for it in profile.contexts if it.min_size == it.max_size == size)


def wait_for_timers(process: subprocess.Popen[str], wanted: bool) -> None:
    """Those of the recorder: each thread has one while it is recorded."""
    end = time.monotonic() + 60
    while bool(Path(f"/proc/{process.pid}/timers").read_text()) != wanted:
        assert time.monotonic() < end
        time.sleep(0.1)


@contextmanager
def being_recorded(process: subprocess.Popen[str], path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [*HALO, "record", "--pid", str(process.pid), "--seconds", "300", "-o", str(path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as recording:
        wait_for_timers(process, True)
        time.sleep(0.5)
        yield recording


def test_time_from_before_does_not_count(service: Path, tmp_path: Path) -> None:
    """An access stands for the time since the burst before, or since the begin."""
    with running(*recordable(service)) as process:
        time.sleep(4)
        found = record(process, tmp_path / "late.profile")
    # A tenth of both threads' nanoseconds in that second, about: most accesses are not to the heap.
    assert 0 < found.totals.machine_accesses < 600_000_000


def test_a_process_is_recorded_again_and_again_and_goes_on(tmp_path: Path, service: Path) -> None:
    with running(*recordable(service)) as process:
        for turn in range(3):
            profile = record(process, tmp_path / f"{turn}.profile", seconds=3)
            assert allocations(profile, 48) > 10_000
            assert allocations(profile, SIZE_OF_THREAD) > 10_000
            assert SAMPLING.of(profile) is not None
            assert profile.totals.accesses > 1000
            wait_for_timers(process, False)


def test_children_of_that_time_are_part_of_the_profile(tmp_path: Path, service: Path) -> None:
    with running(*recordable(service, "forks")) as process:
        profile = record(process, tmp_path / "forks.profile", seconds=2)
    assert allocations(profile, 48) > 10_000
    assert allocations(profile, 72) >= 2000
    assert allocations(profile, 72) % 2000 == 0, "each child is recorded to its end"


def test_a_recording_ends_with_its_process(tmp_path: Path, service: Path) -> None:
    path = tmp_path / "ended.profile"
    with ExitStack() as stack:
        with running(*recordable(service)) as process:
            recording = stack.enter_context(being_recorded(process, path))
        assert recording.wait(timeout=60) == 0
    assert allocations(read_profile(path), 48) > 10_000


def test_an_interrupted_recording_is_kept(tmp_path: Path, service: Path) -> None:
    path = tmp_path / "interrupted.profile"
    with running(*recordable(service)) as process, being_recorded(process, path) as recording:
        recording.send_signal(signal.SIGINT)
        assert recording.wait(timeout=60) == 0
    assert allocations(read_profile(path), 48) > 10_000


def test_a_process_whose_consumer_is_killed_goes_on(tmp_path: Path, service: Path) -> None:
    with running(*recordable(service)) as process:
        with being_recorded(process, tmp_path / "none.profile") as recording:
            consumer = f"halo-consumer @halo-{process.pid:010}"
            subprocess.run(["pkill", "-KILL", "-f", consumer], check=True)
            os.killpg(recording.pid, signal.SIGKILL)
        wait_for_timers(process, False)
        assert allocations(record(process, tmp_path / "next.profile"), 48) > 10_000


def test_the_printed_variables_have_the_same_effect(tmp_path: Path, service: Path) -> None:
    done = halo("exec", "--recordable", "--print-env")
    assert done.status == 0, done.stderr
    variables = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert set(variables) == {"LD_PRELOAD", "HALO_RECORDABLE"}
    with running(service, environment={**os.environ, **variables}) as process:
        assert allocations(record(process, tmp_path / "printed.profile"), 48) > 10_000


def refusal(*words: str) -> str:
    done = halo("record", *words)
    assert done.status == 111
    return done.stderr


def test_what_cannot_be_recorded_is_refused(service: Path) -> None:
    with running(service) as process:
        assert "exec --recordable -- service" in refusal("--pid", str(process.pid))
        assert process.poll() is None
    assert "There is no process 4194304" in refusal("--pid", "4194304")
    assert "without a program" in refusal("--pid", "1", "--", "true")
    assert "cannot record a process" in refusal("--pid", "1", "--engine", "valgrind")
    assert "--pid PID" in refusal("--seconds", "3", "--", "true")
    with running(*recordable(service)) as process:
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(f"\0halo-{process.pid:010}")
            other.listen()
            assert "is being recorded already" in refusal("--pid", str(process.pid))
        assert "all of them" in refusal("--pid", str(process.pid), "--exact")
