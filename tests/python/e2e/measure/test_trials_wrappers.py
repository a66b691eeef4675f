"""Programs that only execute another one are found by one run; others are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from halo.base.errors import Unsuitable
from halo.measure.runs.process_watch import ProcessWatch, Seen, refuse_wrapper, remark_others
from support.command import compile_c

# Uses the processor for given milliseconds, in a given number of its own processes.
WORKS = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void work(long milliseconds) {
  volatile unsigned long x = 1;
  while (clock() < milliseconds * (CLOCKS_PER_SEC / 1000)) x = x * 3 + 1;
}
int main(int argc, char **argv) {
  long milliseconds = atol(argv[1]), children = argc > 2 ? atol(argv[2]) : 0;
  for (long i = 0; i < children; ++i)
    if (fork() == 0) {
      work(milliseconds);
      if (argc > 3) execl(argv[0], argv[0], argv[1], (char *)0);
      _exit(0);
    }
  while (wait(0) > 0) {}
  if (!children) work(milliseconds);
  return 0;
}
"""


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(WORKS, tmp_path_factory.mktemp("works") / "works")


def watched(command: Sequence[object], program: str | Path) -> Seen:
    with ProcessWatch(os.getpid(), Path(program)) as watch:
        subprocess.run([str(word) for word in command], check=True)
    return watch.seen


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["/usr/bin/env", "A=1", "WORKS", 150], id="env executes it in its place"),
        pytest.param(["/bin/sh", "-c", "exec WORKS 150"], id="so does a shell"),
        pytest.param(["/bin/sh", "-c", "WORKS 150; true"], id="a shell waits for it"),
        pytest.param(["/bin/sh", "-c", "WORKS 60; WORKS 60; true"], id="for several"),
        pytest.param(["/usr/bin/timeout", "9", "WORKS", 150], id="timeout waits"),
        pytest.param(["/usr/bin/make", "-sf", "MAKEFILE"], id="make"),
    ],
)
def test_a_wrapper_is_refused_and_the_program_named(
    works: Path, tmp_path: Path, command: list[object]
) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text(f"all:\n\t@{works} 150\n")
    words = [
        str(word).replace("WORKS", str(works)).replace("MAKEFILE", str(makefile))
        for word in command
    ]
    seen = watched(words, words[0])
    with pytest.raises(Unsuitable) as found:
        refuse_wrapper("it", seen)
    assert f" another program, {works}" in str(found.value)
    assert f"-- {works} " in str(found.value)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["WORKS", 100], id="alone"),
        pytest.param(["WORKS", 60, 3], id="forks workers of itself"),
        pytest.param(["WORKS", 60, 2, "again"], id="workers execute it again"),
        pytest.param(
            ["/bin/sh", "-c", "i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done; WORKS 10"],
            id="a shell that works itself",
        ),
    ],
)
def test_a_program_that_works_itself_is_not_refused(works: Path, command: list[object]) -> None:
    words = [str(word).replace("WORKS", str(works)) for word in command]
    refuse_wrapper("it", watched(words, words[0]))


def test_a_good_part_elsewhere_is_a_warning(works: Path) -> None:
    script = f"import subprocess\nx = 1\nsubprocess.run(['{works}', '150'])\n"
    script += "import time\nwhile time.process_time() < 0.15: pass\n"
    seen = watched([sys.executable, "-c", script], sys.executable)
    refuse_wrapper("python", seen)
    assert f"most of it in {works}" in remark_others("python", seen)
    assert remark_others("python", seen).endswith(f"if the other is meant, give it: -- {works} 150")
    assert remark_others("works", watched([works, 100], works)) == ""


def test_a_program_that_a_script_executes_is_named_however_short(works: Path) -> None:
    """A few milliseconds each do not show which does the work.

    On a busy machine, a sample may come too late for a run: there are more runs until one is seen.
    """
    words = ["/bin/sh", "-c", f"{works} 4; true"]
    with ProcessWatch(os.getpid(), Path("/bin/sh")) as watch:
        for _ in range(15):
            watch.begin_run()
            subprocess.run(words, check=True)
            if watch.seen.others:
                break
    assert watch.seen.needs_more
    assert str(works) in remark_others("sh", watch.seen)


def test_a_script_that_works_for_half_of_the_time_names_the_other_half(works: Path) -> None:
    script = f"i=0; while [ $i -lt 75000 ]; do i=$((i+1)); done; {works} 150; true"
    seen = watched(["/bin/sh", "-c", script], "/bin/sh")
    refuse_wrapper("sh", seen)
    assert f"give it: -- {works} 150" in remark_others("sh", seen)


def test_helpers_of_halos_own_are_not_taken_for_the_program(works: Path) -> None:
    """With a mark, only a child whose command line has it counts, and what that one starts."""
    with ProcessWatch(os.getpid(), works, "the-mark") as watch:
        subprocess.run([works, "100"], check=True)
        subprocess.run(["/bin/sh", "-c", f"sleep 0.1; {works} 100; true", "the-mark"], check=True)
    assert watch.seen.others[str(works)].seconds < 0.15, "of the second alone"


def test_signals_stay_with_the_main_thread(works: Path) -> None:
    """A thread that does not block them would take those that the main thread waits for."""
    before = {thread.native_id for thread in threading.enumerate()}
    with ProcessWatch(os.getpid(), works):
        (watching,) = {thread.native_id for thread in threading.enumerate()} - before
        status = Path(f"/proc/self/task/{watching}/status").read_text()
    blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
    assert blocked >> (signal.SIGTERM - 1) & 1 and blocked >> (signal.SIGINT - 1) & 1


def test_other_children_do_not_count(works: Path) -> None:
    """A helper of the process that watches, say, which was there before."""
    with subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) as helper:
        time.sleep(0.2)
        seen = watched([works, 100], works)
        helper.kill()
    assert seen.own > 0 and not seen.others
