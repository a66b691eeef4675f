"""Rounds in time slices: which programs are suited, and what their runs report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.errors import CannotRun, TrialFailed
from halo.base.settings import read_settings
from halo.binary.process.allocators import find_allocator
from halo.binary.process.target import Target
from halo.measure.runs import trial_runner as runner_module
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.rounds import RunProgress, interleave
from halo.measure.runs.trial_runner import TrialRunner
from halo.plan import PlanGroup, write_plan
from halo.plan.layout import REUSE_NEWEST_FIRST
from halo.plan.random_pools import drawing_plan
from halo.plan.runtimes import under_plan
from support.command import compile_c

EFFECTS = read_settings().effects

# Computes for some tenths of a second; WORK is how long, WORDS what it prints.
BUSY = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  unsigned long sum = 1;
  const char *work = getenv("WORK"), *words = getenv("WORDS");
  const long end = 300000000L * (work ? atoi(work) : 1);
  for (long i = 0; i < end; ++i) sum = sum * 6364136223846793005u + i;
  printf("%lu %s\n", sum & 1 ? 0 : 1, words ? words : "");
}
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Job:
    program = compile_c(BUSY, tmp_path_factory.mktemp("busy") / "busy")
    return Job(Target(program, "busy"), ())


def config(label: str, optional: bool = False, **environment: str) -> Configuration:
    return Configuration(label, {"PATH": os.environ["PATH"], **environment}, optional=optional)


def why_not(runner: TrialRunner, job: Job) -> str:
    native = config("glibc")
    first = [runner.measure(job, native) for _ in range(2)]
    return runner.consider_slices(job, native, first)


def test_a_round_in_slices_reports_each_run_as_if_it_were_alone(
    runner: TrialRunner, busy: Job
) -> None:
    assert why_not(runner, busy) == ""
    alone = runner.measure(busy, config("glibc"))
    steps: list[RunProgress] = []
    configs = [config("one"), config("two", WORK="2"), config("three")]
    found = interleave(runner, busy, configs, 2, steps.append, warm_up=0)
    assert {label: len(trials) for label, trials in found.items()} == {
        "one": 2,
        "two": 2,
        "three": 2,
    }
    for label, factor in (("one", 1), ("two", 2), ("three", 1)):
        for trial in found[label]:
            assert trial.in_slices and not alone.in_slices
            own = trial.user + trial.system
            assert own == pytest.approx(factor * (alone.user + alone.system), rel=0.3)
            assert own <= trial.wall * 1.05 + 0.02
            assert trial.wall - trial.delayed == pytest.approx(own, rel=0.2)
            assert trial.main_processor == pytest.approx(own, rel=0.1)
    assert [step.label for step in steps] == ["3 in slices"] * 2


def test_a_round_that_does_not_fit_into_memory_is_parted(
    runner: TrialRunner, busy: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_not(runner, busy) == ""
    configs = [config(str(number)) for number in range(5)]
    monkeypatch.setattr(runner_module, "processes_that_fit", lambda peak: 2)
    assert [len(batch) for batch in runner.batches(busy, configs)] == [1, 2, 2]
    monkeypatch.setattr(runner_module, "processes_that_fit", lambda peak: 1)
    assert [len(batch) for batch in runner.batches(busy, configs)] == [1] * 5


def test_an_output_that_differs_in_slices_is_a_failure(runner: TrialRunner, busy: Job) -> None:
    assert why_not(runner, busy) == ""
    configs = [config("one"), config("two", optional=True, WORDS="other"), config("three")]
    found = interleave(runner, busy, configs, 1, warm_up=0)
    assert set(found) == {"one", "three"}
    assert "standard output" in runner.left_out["two"]
    with pytest.raises(TrialFailed, match="The output of busy under plan"):
        interleave(runner, busy, [config("plan", WORDS="x"), config("one")], 1, warm_up=0)


def test_a_program_that_bears_no_slices_has_none_any_more(
    runner: TrialRunner, tmp_path: Path
) -> None:
    """It has a deadline by a clock that no system call shows."""
    source = r"""
    #include <stdio.h>
    #include <time.h>
    static double now(void) {
      struct timespec t;
      clock_gettime(CLOCK_MONOTONIC, &t);
      return t.tv_sec + t.tv_nsec / 1e9;
    }
    int main(void) {
      const double start = now();
      unsigned long sum = 1;
      for (long i = 0; i < 300000000; ++i) sum = sum * 6364136223846793005u + i;
      puts(now() - start > 1.5 || sum == 0 ? "late" : "in time");
    }
    """
    job = Job(Target(compile_c(source, tmp_path / "deadline"), "deadline"), ())
    assert why_not(runner, job) == ""
    configs = [config(str(number), optional=number > 0) for number in range(8)]
    found = interleave(runner, job, configs, 2, warm_up=0)
    assert len(found) == 8 and runner.left_out == {}
    assert not any(trial.in_slices for trials in found.values() for trial in trials)
    assert "deadline prints something else if it is stopped" in "".join(runner.remarks.values())


def test_each_run_in_slices_has_the_report_of_its_runtime(
    runner: TrialRunner, tmp_path: Path
) -> None:
    source = r"""
    #include <stdlib.h>
    int main(void) {
      unsigned long sum = 1;
      for (long i = 0; i < 300000000; ++i) sum = sum * 6364136223846793005u + i;
      return malloc(100) == 0 || sum == 0;
    }
    """
    job = Job(Target(compile_c(source, tmp_path / "prog"), "prog"), ())
    assert why_not(runner, job) == ""
    plan = tmp_path / "a.plan"
    write_plan(drawing_plan([PlanGroup(False, REUSE_NEWEST_FIRST)], 4096, 16, None), plan)
    runtime = read_settings().runtime
    environment = under_plan({"PATH": os.environ["PATH"]}, runtime, plan, find_allocator("glibc"))
    configs = [Configuration(name, environment, reports=True) for name in ("a", "b", "c")]
    found = runner.measure_batch(job, [config("glibc"), *configs])
    assert found["glibc"].runtime == {}
    for name in ("a", "b", "c"):
        assert found[name].runtime["active"] is True
        assert "other_processes" not in found[name].runtime
    assert list((tmp_path / "scratch").glob("stats*")) == []


def test_the_run_that_exceeds_its_limit_is_named(runner: TrialRunner, busy: Job) -> None:
    assert why_not(runner, busy) == ""
    limited = replace(busy, timeout=2.0)
    assert why_not(runner, limited) == ""
    start = time.monotonic()
    with pytest.raises(TrialFailed, match="under slow did not end within 2 s"):
        runner.measure_batch(limited, [config("one"), config("slow", WORK="90"), config("two")])
    assert time.monotonic() - start < 12


def test_programs_that_have_no_slices_are_told_apart(runner: TrialRunner, busy: Job) -> None:
    shell = Job(Target(Path("/bin/sh"), "sh"), ("-c", "sleep 0.3"))
    assert why_not(runner, shell) == "it does not only compute, in one thread"
    brief = Job(Target(Path("/bin/true"), "true"), ())
    assert why_not(runner, brief) == "its runs are short"
    prepared = replace(busy, prepare="true")
    assert why_not(runner, prepared) == "each run needs a state of its own"
    assert [len(it) for it in runner.batches(prepared, [config("a"), config("b")])] == [1, 1]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo >{folder}/log", "might disturb each other: it calls openat {folder}/log"),
        ("a=$(mktemp); rm $a; rm -f {folder}/none", ""),
        ("set -C; echo >{folder}/lock; rm {folder}/lock", "it calls openat {folder}/lock"),
    ],
)
def test_what_a_program_does_to_files_decides(
    runner: TrialRunner, tmp_path: Path, script: str, why: str
) -> None:
    """A name that differs from run to run belongs to one run."""
    loop = "i=0; while [ $i -lt 600000 ]; do i=$((i + 1)); done; "
    words = script.replace("{folder}", str(tmp_path))
    found = why_not(runner, Job(Target(Path("/bin/sh"), "sh"), ("-c", loop + words)))
    assert found.endswith(why.replace("{folder}", str(tmp_path))) and bool(found) == bool(why)


def watched(tmp_path: Path, *command: str) -> dict[str, Any]:
    path = tmp_path / "effects.json"
    done = subprocess.run(
        [EFFECTS, path, command[0], *command], capture_output=True, cwd=tmp_path, check=True
    )
    assert done.stderr == b""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("print(open('/etc/passwd').read())", ""),
        ("open('/dev/null', 'w').write('x')", ""),
        ("open('x', 'w')", "openat x"),
        ("import os; os.makedirs('d')", "mkdir d"),
        ("import os; os.path.exists('no') or os.path.isdir('no')", ""),
        ("import os; os.rename('kept', 'moved')", "rename moved"),
        ("import os; os.close(os.open('n', 193)); os.rename('n', 'kept')", "rename kept"),
        ("import os; os.chmod('kept', 0o600)", "chmod kept"),
        ("import os; os.utime('kept')", "utimensat kept"),
        ("import socket; socket.socket(1).bind('\\0one')", "bind a socket without a file"),
        ("import os; os.remove('kept')", "unlink kept"),
        ("import os; os.setsid() if os.fork() == 0 else os.wait()", "setsid"),
        ("import fcntl; fcntl.lockf(open('kept', 'rb+'), fcntl.LOCK_EX)", "openat kept"),
        ("import fcntl; fcntl.flock(open('kept'), fcntl.LOCK_SH)", "flock"),
        ("import fcntl; fcntl.lockf(open('kept'), fcntl.LOCK_SH)", "fcntl"),
        ("import fcntl; fcntl.fcntl(0, fcntl.F_GETFL)", ""),
        ("import socket; socket.socket().bind(('127.0.0.1', 0))", "bind a network address"),
        ("import socket; a, b = socket.socketpair(); a.send(b'x')", ""),
        ("import signal; signal.alarm(9)", "alarm"),
        ("import threading; threading.Thread(target=open, args=('x', 'w')).start()", "openat x"),
        ("import subprocess; subprocess.run(['/bin/sh', '-c', ': >y'])", "openat y"),
        ("import os; os.abort()", ""),
    ],
)
def test_effects_of_system_calls(tmp_path: Path, script: str, expected: str) -> None:
    (tmp_path / "kept").write_text("x")
    found = watched(tmp_path, "/usr/bin/python3", "-I", "-S", "-B", "-c", script)
    assert found["effect"] == expected
    assert found["status"] == (-6 if "abort" in script else 0)


def test_a_watched_program_runs_as_always(tmp_path: Path) -> None:
    """Signals reach it, a stop and its continuation too, and its output is its own."""
    script = "trap 'echo usr' USR1; kill -USR1 $$; kill -STOP $$; echo went on"
    with subprocess.Popen(
        [EFFECTS, tmp_path / "effects.json", "/bin/sh", "sh", "-c", script],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "usr\n"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < deadline:  # it may not have stopped yet
            time.sleep(0.05)
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGCONT)
        process.kill()
        assert (process.stdout.read(), process.returncode) == ("went on\n", 0)


def test_wrong_usage_and_programs_that_cannot_start_are_told(tmp_path: Path) -> None:
    assert subprocess.run([EFFECTS, "x"], capture_output=True).returncode == 2
    assert watched(tmp_path, "/nothing/here")["status"] == 127


def test_a_program_that_cannot_start_leaves_no_other_behind(
    runner: TrialRunner, busy: Job, tmp_path: Path
) -> None:
    assert why_not(runner, busy) == ""
    missing = replace(config("two"), program=Target(tmp_path / "missing", "busy"))
    with pytest.raises(CannotRun, match="No such file"):
        runner.measure_batch(busy, [config("one", WORK="50"), missing])
    processes = subprocess.run(["pgrep", "-f", str(busy.target.path)], capture_output=True)
    assert processes.stdout == b""
