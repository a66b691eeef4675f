"""The words of the options of services."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from halo.measure.services.service import Ready, Service, parse_load, parse_ready, parse_signal


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "load.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_signs(load: Path) -> None:
    assert parse_ready("tcp:7777") == Ready("tcp", "7777")
    assert parse_ready("file:x/y") == Ready("file", str(load.parent / "x" / "y"))
    assert parse_ready("line:a: b+") == Ready("line", "a: b+")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("7777", "is not tcp:PORT"),
        ("udp:7", "is not tcp:PORT"),
        ("tcp:", "is not tcp:PORT"),
        ("tcp:0", "is not a port"),
        ("tcp:65536", "is not a port"),
        ("tcp:localhost:7", "is not a port"),
        ("line:(", "is not a regular expression"),
        (r"line:\u2713 ready", "is not a regular expression"),  # of text, and not of bytes
        ("line:(?u)ready", "is not a regular expression"),
    ],
)
def test_bad_signs(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_ready(text)


@pytest.mark.parametrize("text", ["INT", "SIGINT", "int", "2"])
def test_signals(text: str) -> None:
    assert parse_signal(text) == signal.SIGINT


@pytest.mark.parametrize("text", ["", "NO", "0", "99", "KILL", "9", "SIGSTOP"])
def test_bad_signals(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a signal|neither"):
        parse_signal(text)


def test_a_load_is_a_file_or_a_command_line(load: Path) -> None:
    assert parse_load("load.sh").path == load
    assert parse_load("./load.sh 7 'a b'").words == ("./load.sh", "7", "a b")
    spaced = load.rename(load.with_name("a load"))
    assert parse_load("a load").words == ("a load",)
    assert parse_load(str(parse_load("a load"))).path == spaced
    assert parse_load("sh -c true").path.name == "sh"
    assert parse_load(f"sh -c 'true {'.' * 300}'").path.name == "sh"


def test_bad_loads(load: Path) -> None:
    with pytest.raises(ValueError, match="empty"):
        parse_load("")
    with pytest.raises(ValueError, match="quotation"):
        parse_load("load.sh 'x")
    with pytest.raises(ValueError, match="does not exist"):
        parse_load("./no.sh 7")
    load.write_text("echo\n")
    with pytest.raises(ValueError, match="begin it with: #!/bin/sh"):
        parse_load("./load.sh")
    load.chmod(0o644)
    with pytest.raises(ValueError, match=r"chmod \+x ./load.sh"):
        parse_load("./load.sh")


def test_the_options_of_a_service_name_it_again(load: Path) -> None:
    service = Service(parse_load("./load.sh 'a b'"), parse_ready("tcp:7"), signal.SIGINT)
    words = service.options()
    assert words == ["--load", "./load.sh 'a b'", "--ready", "tcp:7", "--stop", "SIGINT"]
    again = Service(parse_load(words[1]), parse_ready(words[3]), parse_signal(words[5]))
    assert again == service
