"""Signals, closed pipes and full disks: halo ends in order, and nothing of it lives on."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from halo.base.console.outcome import known
from halo.base.errors import BadInput, HaloError, RecordingFailed, TrialFailed
from halo.base.files.atomic import write_json
from halo.base.files.scratch import scratch_folder
from support.command import compile_c, halo

# It starts a child in a session of its own, says who they are, and would live for a minute.
LASTING = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  FILE *file = fopen(words[1], "w");
  pid_t child = fork();
  if (child == 0) { setsid(); sleep(60); return 0; }
  fprintf(file, "%d %d\n", (int)getpid(), (int)child);
  fclose(file);
  rename(words[1], words[2]);
  sleep(60);
  return 0;
}
"""
STATUS = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
MEASURING = {
    "baseline": ["baseline", "--", "./lasting", "new", "pids"],
    "probe": ["probe", "--", "./lasting", "new", "pids"],
    "age": ["age", "--no-split", "--", "./lasting", "new", "pids"],
    "run": ["run", "--", "./lasting", "new", "pids", "--", "./lasting", "new", "pids"],
    "evaluate": ["evaluate", "--", "./lasting", "new", "pids", "--", "./lasting", "new", "pids"],
}


@pytest.fixture(autouse=True)
def default_signals() -> None:
    """What runs the tests may ignore some signals, which all children would inherit."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def place() -> Iterator[Path]:
    """With a folder for TMPDIR: of a short path, as halo uses no other."""
    with tempfile.TemporaryDirectory() as folder:
        compile_c(LASTING, Path(folder) / "lasting")
        (Path(folder) / "tmp").mkdir()
        yield Path(folder)


def start(place: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "halo", *arguments],
        cwd=place,
        env={**os.environ, "TMPDIR": str(place / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # As a job of its own, in which a test may leave nothing behind.
        start_new_session=True,
    )


def eventually(condition: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.fixture
def started(place: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], list[int]]]]:
    """Starts a command; gives it and the processes of the program, all of which end."""
    pids: list[int] = []
    processes: list[subprocess.Popen[str]] = []

    def run(*arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
        processes.append(start(place, *arguments))
        assert eventually((place / "pids").exists), "the program did not start"
        pids.extend(int(word) for word in (place / "pids").read_text().split())
        return processes[0], pids

    yield run
    for process in processes:
        process.kill()
    for pid in filter(alive, pids):
        os.kill(pid, signal.SIGKILL)
    for process in processes:
        process.communicate()


@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
@pytest.mark.parametrize("command", MEASURING)
def test_a_signal_ends_the_measured_program_and_its_children(
    place: Path,
    started: Callable[..., tuple[subprocess.Popen[str], list[int]]],
    command: str,
    number: signal.Signals,
) -> None:
    process, pids = started(*MEASURING[command])
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == STATUS[number], said
    word = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert said.splitlines()[-1] == f"halo: {word}"
    assert "Traceback" not in said and "died by" not in said
    assert not any(map(alive, pids))
    assert not list((place / "tmp").iterdir())
    assert not list(place.glob("results/*/*.json")) and not list(place.glob("results/*-*"))


def test_a_signal_to_the_whole_group_is_not_taken_for_a_crash(
    place: Path, started: Callable[..., tuple[subprocess.Popen[str], list[int]]]
) -> None:
    process, pids = started(*MEASURING["baseline"])
    os.killpg(process.pid, signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "died by" not in said and "Traceback" not in said
    assert not any(map(alive, pids))


def test_a_program_that_ignores_the_signal_is_killed(place: Path) -> None:
    source = """
    #include <signal.h>
    #include <stdio.h>
    #include <unistd.h>
    int main(void) {
      signal(SIGTERM, SIG_IGN);
      FILE *file = fopen("pid", "w");
      fprintf(file, "%d\\n", (int)getpid());
      fclose(file);
      for (;;) pause();
    }
    """
    compile_c(source, place / "stubborn")
    process = start(place, "baseline", "--", "./stubborn")
    assert eventually(lambda: (place / "pid").exists() and (place / "pid").read_text() != "")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert not alive(int((place / "pid").read_text()))


@pytest.mark.parametrize("command", ["baseline", "record", "simulate"])
def test_nothing_outlives_a_killed_halo(
    place: Path, started: Callable[..., tuple[subprocess.Popen[str], list[int]]], command: str
) -> None:
    process, pids = started(command, "--", "./lasting", "new", "pids")
    process.kill()
    process.wait()
    # Of a recorded program, the process that halo started.
    expected = pids if command == "baseline" else pids[:1]
    assert eventually(lambda: not any(map(alive, expected)))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
@pytest.mark.parametrize("command", ["baseline", "record"])
def test_nothing_outlives_a_killed_job(
    started: Callable[..., tuple[subprocess.Popen[str], list[int]]],
    command: str,
    number: signal.Signals,
) -> None:
    process, pids = started(command, "--", "./lasting", "new", "pids")
    os.killpg(process.pid, number)
    expected = pids if command == "baseline" else pids[:1]
    assert eventually(lambda: not any(map(alive, expected)))


def test_the_folder_of_a_killed_halo_is_removed_by_the_next(
    place: Path, started: Callable[..., tuple[subprocess.Popen[str], list[int]]]
) -> None:
    process, _ = started(*MEASURING["baseline"])
    process.kill()
    process.wait()
    (left,) = (place / "tmp").iterdir()
    long_ago = time.time() - 3600
    os.utime(left, (long_ago, long_ago))
    compile_c("int main(void) { return 0; }", place / "prog")
    outcome = halo(
        *("baseline", "--trials", "1", "--", "./prog"),
        cwd=place,
        env={"TMPDIR": str(place / "tmp")},
    )
    assert outcome.status == 0, outcome.stderr
    assert not list((place / "tmp").iterdir())


def test_the_folder_of_a_running_halo_stays(
    place: Path, started: Callable[..., tuple[subprocess.Popen[str], list[int]]]
) -> None:
    started(*MEASURING["baseline"])
    (used,) = (place / "tmp").iterdir()
    long_ago = time.time() - 3600
    os.utime(used, (long_ago, long_ago))
    compile_c("int main(void) { return 0; }", place / "prog")
    halo(
        *("baseline", "--trials", "1", "--", "./prog"),
        cwd=place,
        env={"TMPDIR": str(place / "tmp")},
    )
    assert used.exists()


def test_what_an_interrupted_run_has_finished_stays_and_is_named(place: Path) -> None:
    """The program is quick until the recorder runs it, of which its environment tells."""
    source = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    int main(void) {
      const char *preloaded = getenv("LD_PRELOAD");
      if (preloaded && strstr(preloaded, "guest")) {
        fclose(fopen("recording", "w"));
        sleep(60);
      }
      return 0;
    }
    """
    compile_c(source, place / "prog")
    process = start(place, "run", "--results", "kept", "--", "./prog", "--", "./prog")
    found = eventually((place / "recording").exists, 60)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert found, said
    assert process.returncode == 143
    assert f"finished stages are in {place / 'kept'}" in said
    assert halo("report", "kept", cwd=place).status == 117


READERS = [
    ["--help"],
    ["run", "--help"],
    ["--version"],
    ["bench", "--list"],
    ["doctor"],
    ["baseline", "--trials", "1", "--", "true"],
    ["probe", "--seconds", "1", "--", "./prog"],
]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", READERS, ids=" ".join)
def test_a_reader_that_has_gone_is_not_a_failure(
    tmp_path: Path, arguments: list[str], unbuffered: str
) -> None:
    compile_c("int main(void) { return 0; }", tmp_path / "prog")
    end, begin = os.pipe()
    os.close(end)
    done = subprocess.run(
        [sys.executable, "-m", "halo", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=begin,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(begin)
    assert done.returncode == 141, done.stderr
    assert "ignored" not in done.stderr and "Broken" not in done.stderr


def test_a_reader_of_both_streams_that_has_gone_is_not_a_failure() -> None:
    end, begin = os.pipe()
    os.close(end)
    command = [sys.executable, "-m", "halo", "bench", "--list"]
    done = subprocess.run(command, stdout=begin, stderr=begin, check=False)
    os.close(begin)
    assert done.returncode == 141


def test_a_full_disk_is_a_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "halo", "bench", "--list"],
            env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 117
    assert "No space is left" in done.stderr and "Traceback" not in done.stderr


def test_a_full_results_folder_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="No space left on device"):
        write_json({}, tmp_path / "results.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failure", [RecordingFailed, TrialFailed])
def test_a_failure_on_a_full_disk_names_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[HaloError]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(failure, match=f"The disk of {tmp_path} is full"), scratch_folder():
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=1, f_frsize=4096))
        raise failure("The program left nothing; check that it runs to its end.")
    with pytest.raises(BadInput, match="is full"), scratch_folder():
        pass
    assert not list(tmp_path.iterdir())


def test_a_failure_on_a_disk_with_space_keeps_its_sentence(tmp_path: Path) -> None:
    with pytest.raises(TrialFailed, match="differs"), scratch_folder():
        raise TrialFailed("The output differs.")


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied", "secret/x.trace"),
        NotADirectoryError(errno.ENOTDIR, "Not a directory", "secret/x.trace"),
    ],
)
def test_a_path_that_cannot_be_used_is_bad_input(error: OSError) -> None:
    failure = known(error)
    assert failure is not None and failure.exit_status == 117
    assert "secret/x.trace" in str(failure) and str(error.strerror) in str(failure)


def test_an_internal_error_is_not_blamed_on_the_input() -> None:
    assert known(FileNotFoundError(errno.ENOENT, "No such file", "part-of-halo")) is None
    assert known(ValueError("wrong")) is None
