"""Services and time limits by the command line, with a real service and its load."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import compile_c, halo
from support.services import LOAD, compile_ledger, free_port, living, script


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("services")
    compile_ledger(folder)
    return folder


@pytest.fixture
def port() -> Iterator[str]:
    found = str(free_port())
    yield found
    assert not living(found), "the service or its load lives on"


def test_a_service_gets_a_verdict(place: Path, port: str) -> None:
    options = ["--trials", "1", "--candidates", "dense", "--results", "whole"]
    load = f"{LOAD} {port} 3000 20"
    outcome = halo("run", *options, "--load", load, "--", "./ledger", port, cwd=place)
    assert outcome.status == 0, outcome.stderr
    assert "ledger: it cannot be told what is fastest: 1 trial concludes nothing" in outcome.stdout
    results = json.loads((place / "whole" / "results.json").read_text())
    assert results["commands"]["train"] == ["./ledger", port]
    assert results["commands"]["options"] == ["--load", load]
    assert results["summary"]["outputs_equal"] is True
    assert results["summary"]["record"]["output_equal"] is True
    raced = results["trials"]["candidates_on_training"]
    planned = [trial for label, found in raced.items() if "dense" in label for trial in found]
    assert planned and all(trial["runtime"]["active"] for trial in planned)
    report = halo("report", "whole", "-o", "page.html", cwd=place)
    assert report.status == 0, report.stderr
    page = (place / "page.html").read_text()
    assert f"--load &#39;{load}&#39; -- ./ledger {port}</" in page or f"--load '{load}'" in page


def test_a_recording_of_a_service_can_be_planned(place: Path, port: str) -> None:
    load = f"{LOAD} {port} 2000 5"
    words = ["-o", "one.profile", "--load", load, "--", "./ledger", port]
    outcome = halo("record", *words, cwd=place)
    assert outcome.status == 0, outcome.stderr
    assert outcome.stdout == f"{5 * sum(range(2000))}\n"
    assert halo("plan", "one.profile", cwd=place).status == 0
    words[1:4] = ["two.profile", "--load", "false"]
    outcome = halo("record", *words, cwd=place)
    assert outcome.status == 118
    assert "under the recorder, the load false ended with status 1" in outcome.stderr
    assert not (place / "two.profile").exists()


def test_the_load_can_tell_that_the_service_is_recorded(
    place: Path, port: str, tmp_path: Path
) -> None:
    load = script(tmp_path / "load", "echo $HALO_RECORDING")
    words = ["-o", "three.profile", "--load", str(load), "--", "./ledger", port]
    outcome = halo("record", *words, cwd=place)
    assert (outcome.status, outcome.stdout) == (0, "1\n"), outcome.stderr


def test_two_loads_and_the_other_options(place: Path, port: str) -> None:
    options = ["--trials", "1", "--ready", f"tcp:{port}", "--stop", "INT", "--results", "two"]
    loads = ["--load", f"{LOAD} {port} 2000 9", "--train-load", f"{LOAD} {port} 1000 9"]
    words = [*options, *loads, "--candidates", "dense", "--", "./ledger", port, "exit"]
    outcome = halo("run", *words, "--", "./ledger", port, cwd=place)
    assert outcome.status == 0, outcome.stderr
    results = json.loads((place / "two" / "results.json").read_text())
    assert results["commands"]["reference"] == ["./ledger", port]
    assert results["commands"]["options"][-2:] == ["--train-load", loads[3]]


def test_probe_of_a_service(place: Path, port: str) -> None:
    load = f"{LOAD} {port} 3000 20"
    outcome = halo("probe", "--seconds", "1", "--load", load, "--", "./ledger", port, cwd=place)
    assert outcome.status in (0, 1, 2), outcome.stderr
    assert "ledger" in outcome.stdout
    if outcome.status != 1:
        assert f"--load '{load}' -- ./ledger {port}" in outcome.stdout


@pytest.mark.parametrize(
    "command", [["run", "--", "./ledger", "PORT"], ["eval", "baseline"], ["probe"]]
)
def test_a_program_that_does_not_end_is_stopped(place: Path, port: str, command: list[str]) -> None:
    words = [word.replace("PORT", port) for word in [*command, "--", "./ledger", port]]
    at = 2 if words[0] == "eval" else 1
    start = time.monotonic()
    outcome = halo(*words[:at], "--timeout", "1", *words[at:], cwd=place)
    assert outcome.status == 119
    assert time.monotonic() - start < 60
    (sentence,) = [line for line in outcome.stderr.splitlines() if "did not end" in line]
    assert "within 1 s, the limit of --timeout" in sentence and "--load SCRIPT" in sentence
    assert not list(place.glob("results/ledger*/stages"))


def test_a_load_that_does_not_end_is_stopped(place: Path, port: str, tmp_path: Path) -> None:
    load = script(tmp_path / "load", f"sleep 62; : {port}")
    words = ["--timeout", "1", "--load", str(load), "--", "./ledger", port]
    outcome = halo("study", "eval", "baseline", *words, cwd=place)
    assert outcome.status == 119
    assert f"The load {load} did not end within 1 s" in outcome.stderr
    assert not living("62")


def test_a_recording_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    """The program is quick until the recorder runs it, of which its environment tells."""
    source = """
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    int main(void) {
      const char *preloaded = getenv("LD_PRELOAD");
      if (preloaded && strstr(preloaded, "guest")) sleep(63);
      return 0;
    }
    """
    compile_c(source, tmp_path / "waits")
    words = ["--trials", "1", "--timeout", "0.1", "--", "./waits", "63"]
    outcome = halo("run", *words, "--", "./waits", "63", cwd=tmp_path)
    assert outcome.status == 0, outcome.stderr
    said = " ".join(outcome.stderr.split())
    assert "With the engine native: ./waits 63 did not end within 10 s, the limit under" in said
    assert "With the engine valgrind" not in said, "it would take even longer"
    assert "nothing was recorded" in outcome.stdout
    assert not living("63")


def test_a_service_that_cannot_be_recorded_gets_an_answer(
    place: Path, port: str, tmp_path: Path
) -> None:
    checks = f'[ -z "$HALO_RECORDING" ] || exit 7; exec {LOAD} {port} 3000 20'
    load = str(script(tmp_path / "load", checks))
    words = ["--trials", "1", "--candidates", "everything", "--load", load]
    outcome = halo("run", *words, "--", "./ledger", port, cwd=place)
    assert outcome.status == 0, outcome.stderr
    said = " ".join(outcome.stderr.split())
    assert "With the engine valgrind: ./ledger cannot be recorded: under the recorder," in said
    assert f"the load {load} ended with status 7" in said
    assert "nothing was recorded" in outcome.stdout
    assert "everything over" in outcome.stdout


def test_a_load_that_fails_ends_it_with_its_last_words(
    place: Path, port: str, tmp_path: Path
) -> None:
    load = script(tmp_path / "load", "echo cannot log in >&2; exit 4")
    words = ["--trials", "1", "--results", "failed", "--load", str(load), "--", "./ledger", port]
    outcome = halo("run", *words, cwd=place)
    assert outcome.status == 119
    sentence = outcome.stderr.splitlines()[-1]
    assert f"the load {load} ended with status 4: cannot log in" in sentence
    assert (place / "failed" / "failed.load.stderr").read_text() == "cannot log in\n"


def test_an_output_of_the_load_that_varies_is_not_accepted(
    place: Path, port: str, tmp_path: Path
) -> None:
    load = script(tmp_path / "load", "echo $$")
    words = ["--trials", "1", "--results", "varies", "--load", str(load), "--", "./ledger", port]
    outcome = halo("study", "eval", "baseline", *words, cwd=place)
    assert outcome.status == 119
    assert "differs from run to run under glibc itself" in outcome.stderr
    assert halo("study", "eval", "baseline", "--ignore-output", *words, cwd=place).status == 0


def test_an_allocator_under_which_the_load_fails_is_left_out(
    place: Path, port: str, tmp_path: Path
) -> None:
    load = script(tmp_path / "load", "! grep -q jemalloc /proc/$HALO_PID/maps || exit 5")
    words = ["--trials", "1", "--results", "left", "--load", str(load), "--", "./ledger", port]
    outcome = halo("study", "eval", "baseline", *words, cwd=place)
    assert outcome.status == 0, outcome.stderr
    summary = json.loads((place / "left" / "summary.json").read_text())
    assert list(summary["left_out"]) == ["jemalloc"]
    assert "ended with status 5" in summary["left_out"]["jemalloc"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_in_the_middle_of_the_load_ends_all(
    place: Path, port: str, tmp_path: Path, number: signal.Signals
) -> None:
    load = script(tmp_path / "load", f"sleep 64 & touch {tmp_path}/started; wait; : {port}")
    words = ["eval", "baseline", "--load", str(load), "--", "./ledger", port]
    process = subprocess.Popen(
        [sys.executable, "-m", "halo", *words],
        cwd=place,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    expected = {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}
    assert process.returncode == expected[number], said
    assert "Traceback" not in said
    end = time.monotonic() + 10
    while (living(port) or living("64")) and time.monotonic() < end:
        time.sleep(0.02)
    assert not living(port) and not living("64")


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["run", "--load", "./none.sh", "--", "./ledger", "1"], 117, "does not exist"),
        (["run", "--load", "", "--", "./ledger", "1"], 117, "is empty"),
        (["run", "--ready", "tcp:1", "--", "./ledger", "1", "--", "./ledger"], 111, "--load"),
        (["run", "--load", "true", "--ready", "7", "--", "./ledger"], 111, "tcp:PORT"),
        (["run", "--load", "true", "--stop", "KILL", "--", "./ledger"], 111, "SIGKILL"),
        (["run", "--train-load", "true", "--", "./ledger"], 111, "--load"),
        (["run", "--load", "true", "--litter", "", "--", "./ledger"], 111, "--litter"),
        (["run", "--load", "true"], 111, "--"),
        (["run", "--load", "true", "--", "./ledger", "--", "sh"], 111, "one binary"),
        (["record", "--timeout", "5", "--", "./ledger"], 111, "--load"),
        (["probe", "--timeout", "0", "--", "./ledger"], 111, "seconds"),
        (["probe", "--timeout", "nan", "--", "./ledger"], 111, "seconds"),
    ],
)
def test_bad_input_costs_one_sentence(place: Path, words: list[str], status: int, why: str) -> None:
    outcome = halo(*words, cwd=place)
    assert outcome.status == status, outcome.stderr
    assert why in outcome.stderr
    assert "Traceback" not in outcome.stderr
