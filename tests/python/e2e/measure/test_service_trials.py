"""One trial of a service: ready, loaded, stopped; what it measures, and each way to fail."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halo.measure.runs.launcher import Failure, Launcher, Run, Streams
from halo.measure.services.service import Ready, Service, parse_load, parse_ready
from halo.measure.services.service_trial import LoadTooLong, Seconds, ServiceTrial
from halo.record.producer import CommandLine
from support.services import LOAD, compile_ledger, free_port, living, script

Trial = Callable[..., Run]
LISTENING, ENOUGH = Ready(), Seconds(10, 10, 2)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_ledger(tmp_path_factory.mktemp("ledger"))


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def trial(ledger: Path, tmp_path: Path, port: int) -> Iterator[Trial]:
    """Runs ledger in a mode under a load; nothing of it may live on."""

    def run(
        load: str = f"{LOAD} PORT 2000 5",
        mode: str = "",
        ready: Ready = LISTENING,
        stop: signal.Signals = signal.SIGTERM,
        seconds: Seconds = ENOUGH,
        allowed: frozenset[int] = frozenset({0}),
        **environment: str,
    ) -> Run:
        service = Service(parse_load(load.replace("PORT", str(port))), ready, stop)
        words = ["ledger", str(port), *([mode] if mode else [])]
        command = CommandLine(ledger, words, environment)
        streams = Streams(Path(os.devnull), tmp_path / "stdout", tmp_path / "stderr")
        whole = ServiceTrial(service, dict(os.environ), seconds, allowed)
        with Launcher() as launcher:
            return whole.run(launcher, command, streams)

    yield run
    assert not living(str(port))


def failed(run: Run) -> Failure:
    assert run.failure is not None
    return run.failure


def test_the_time_is_that_of_the_load(trial: Trial, tmp_path: Path) -> None:
    load = script(tmp_path / "load", "sleep 0.3; echo done; echo hm >&2")
    run = trial(str(load))
    assert run.failure is None
    assert (run.ending.exit_status, run.ending.signal) == (0, 0)
    assert 0.3 <= run.wall < 3
    assert run.user + run.system < 0.2, "the service does nothing meanwhile"
    assert (tmp_path / "stdout").read_text() == "done\n"
    assert (tmp_path / "service.stdout").read_text() == "ready\n"
    assert (tmp_path / "stderr").read_text() == "", "which is that of the service"
    assert (tmp_path / "load.stderr").read_text() == "hm\n"


def test_processor_time_and_memory_are_those_of_the_service(trial: Trial) -> None:
    small = trial(f"{LOAD} PORT 100 1")
    large = trial(f"{LOAD} PORT 60000 50")
    assert large.user > small.user + 0.01
    assert large.user < large.wall
    assert large.peak_memory > small.peak_memory


def test_a_start_that_computes_does_not_make_processor_time_the_clock(
    tmp_path: Path,
) -> None:
    """The main thread's time is known for the whole life only, not for the load."""
    loop = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"
    sign = tmp_path / "sign"
    service = Service(
        parse_load(str(script(tmp_path / "load", "sleep 0.1"))), parse_ready(f"file:{sign}")
    )
    command = CommandLine(
        Path("/bin/sh"), ["sh", "-c", f"{loop}; >{sign}; while :; do sleep 0.01; done"], {}
    )
    streams = Streams(Path(os.devnull), tmp_path / "stdout", tmp_path / "stderr")
    with Launcher() as launcher:
        run = ServiceTrial(service, dict(os.environ), ENOUGH).run(launcher, command, streams)
    assert run.failure is None
    assert (run.main_processor, run.delayed) == (0.0, 0.0)


@pytest.mark.parametrize("mode", ["", "exit"])
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_death_by_the_signal_and_status_0_are_good_ends(
    trial: Trial, mode: str, stop: signal.Signals
) -> None:
    run = trial(mode=mode, stop=stop)
    assert run.failure is None
    assert (run.ending.exit_status, run.ending.signal) == (0, 0)


@pytest.mark.parametrize("kind", ["tcp:PORT", "file:PLACE/sign", "line:^rea.y$"])
def test_the_load_waits_for_the_sign(
    trial: Trial, tmp_path: Path, port: int, kind: str, ledger: Path
) -> None:
    if kind.startswith("file"):
        (tmp_path / "sign").write_text("of an earlier service")
        threading.Timer(0.5, (tmp_path / "sign").write_text, ["new"]).start()
    ready = parse_ready(kind.replace("PORT", str(port)).replace("PLACE", str(tmp_path)))
    assert trial(ready=ready).failure is None
    assert int((tmp_path / "stdout").read_text()) == 5 * sum(range(2000))


def test_the_load_knows_the_service_and_is_not_preloaded(trial: Trial, tmp_path: Path) -> None:
    load = script(tmp_path / "load", "echo $LD_PRELOAD; tr '\\0' ' ' </proc/$HALO_PID/cmdline")
    run = trial(str(load), LD_PRELOAD="/nowhere.so")
    assert run.failure is None
    assert (tmp_path / "stdout").read_text().startswith(f"{os.environ.get('LD_PRELOAD', '')}\nledg")


def test_what_the_load_leaves_behind_ends_with_it(trial: Trial, tmp_path: Path, port: int) -> None:
    load = script(tmp_path / "load", f"setsid sh -c 'sleep 60; : {port}' {port} & echo done")
    assert trial(str(load)).failure is None


def test_a_load_that_fails_is_quoted(trial: Trial, tmp_path: Path) -> None:
    load = script(tmp_path / "load", "echo no such account >&2; exit 3")
    failure = failed(trial(str(load)))
    assert failure.what == f"the load {load} ended with status 3"
    assert failure.words == ": no such account"
    assert "--ready" in failure.way_out


def test_a_load_over_its_time_ends_with_the_service(trial: Trial, tmp_path: Path) -> None:
    load = script(tmp_path / "load", "sleep 61")
    with pytest.raises(LoadTooLong):
        trial(str(load), seconds=Seconds(10, 0.5, 2))
    assert not living("61")


def test_a_service_that_ends_early(trial: Trial, tmp_path: Path, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        failure = failed(trial())
    assert failure.what == "it ended with status 1 before it was ready"
    assert "Address already in use" in failure.words


def test_a_port_that_is_taken_is_not_taken_for_the_service(trial: Trial, port: int) -> None:
    with socket.create_server(("127.0.0.1", port)):
        failure = failed(trial(ready=parse_ready(f"tcp:{port}")))
    assert failure.what == f"another process already listens at port {port} of 127.0.0.1"


def test_a_daemon_is_refused_and_ended(trial: Trial) -> None:
    failure = failed(trial(mode="daemon", ready=parse_ready("file:/nowhere/at/all")))
    assert failure.what == "it ended with status 0 before it was ready"
    assert "foreground" in failure.way_out


def test_a_service_that_is_never_ready(trial: Trial) -> None:
    failure = failed(trial(mode="mute", seconds=Seconds(0.5, 10, 2)))
    assert failure.what.startswith("it was not ready within 0.5 s, as no TCP or Unix socket")
    assert "--ready" in failure.way_out


def test_a_service_that_dies_of_the_load(trial: Trial, tmp_path: Path) -> None:
    load = script(tmp_path / "load", "kill -SEGV $HALO_PID; sleep 0.2")
    assert failed(trial(str(load))).what == f"it died by signal 11 during the load {load}"
    load = script(tmp_path / "load", "kill -SEGV $HALO_PID; sleep 0.2; exit 1")
    assert failed(trial(str(load))).what == f"it died by signal 11 during the load {load}"


def test_a_load_may_end_the_service(trial: Trial, tmp_path: Path, port: int) -> None:
    text = (
        f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo sum 3 >&3; read -u 3 sum; echo $sum; echo end >&3"
    )
    load = script(tmp_path / "load", f"exec bash -c '{text}; sleep 0.2'")
    run = trial(str(load))
    assert run.failure is None
    assert (tmp_path / "stdout").read_text() == "0\n"


def test_a_service_that_stays_is_killed(trial: Trial) -> None:
    failure = failed(trial(mode="ignore", seconds=Seconds(10, 10, 0.3)))
    assert failure.what == "it did not end within 0.3 s of SIGTERM, and was killed"
    assert "--stop" in failure.way_out


def test_a_bad_status_after_the_signal_can_be_allowed(trial: Trial) -> None:
    failure = failed(trial(mode="fail"))
    assert failure.what == "it ended with status 3 after SIGTERM"
    assert "--allow-status 3" in failure.way_out
    assert trial(mode="fail", allowed=frozenset({0, 3})).failure is None
