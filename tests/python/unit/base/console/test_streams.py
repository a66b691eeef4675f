"""The standard streams, whatever the shell closed and the locale encodes."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace

import pytest

from halo.base.console.outcome import say
from halo.base.console.streams import prepare_streams
from halo.base.settings import read_settings
from support.command import REPOSITORY, halo


def prepared(monkeypatch: pytest.MonkeyPatch, encoding: str, stream: str = "stdout") -> io.BytesIO:
    """What is printed to that stream, in that encoding."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, stream, io.TextIOWrapper(raw, encoding="utf-8", errors="strict"))
    prepare_streams(encoding)
    return raw


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "iso8859-1"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_names_that_are_not_utf_8_are_printed_as_they_are(
    monkeypatch: pytest.MonkeyPatch, stream: str, encoding: str
) -> None:
    raw = prepared(monkeypatch, encoding, stream)
    print("caf\udce9.txt", file=getattr(sys, stream), flush=True)
    assert raw.getvalue() == b"caf\xe9.txt\n"


def test_names_are_the_bytes_that_they_have_in_the_locale_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = prepared(monkeypatch, "ascii")
    print("1.0 ± 0.2 \u732b.c ← caf\u00e9.c \ud800", flush=True)
    assert raw.getvalue() == "1.0 +- 0.2 \u732b.c <- caf\u00e9.c ?\n".encode()


def test_a_locale_with_other_characters_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = prepared(monkeypatch, "iso8859-1")
    print("± ←", flush=True)
    assert raw.getvalue() == "± <-\n".encode("iso8859-1")


def test_every_character_that_halo_prints_is_spelled_in_ascii(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = (path.read_text() for path in (REPOSITORY / "halo").rglob("*.py"))
    used = {character for text in texts for character in re.findall(r"[^\x00-\x7f]", text)}
    assert len(used) > 5
    raw = prepared(monkeypatch, "ascii")
    print("".join(sorted(used)), flush=True)
    assert raw.getvalue().isascii()


@pytest.mark.parametrize(
    ("environment", "encoding"),
    [
        ({}, "utf-8"),
        ({"LANG": "C"}, "ascii"),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, "ascii"),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8"),
        ({"LANG": "C", "LC_ALL": ""}, "ascii"),
        ({"LANG": "de_DE.ISO-8859-1"}, "iso8859-1"),
        ({"LANG": "de_DE.ISO-8859-15@euro"}, "iso8859-15"),
        ({"LANG": "de_DE"}, "utf-8"),
        ({"LANG": "de_DE.nonsense"}, "utf-8"),
    ],
)
def test_the_encoding_is_that_of_the_locale(environment: dict[str, str], encoding: str) -> None:
    assert replace(read_settings(), environment=environment).encoding == encoding


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252", "shift_jis", "gb18030"])
def test_a_text_encoding_of_the_locale_is_taken(encoding: str) -> None:
    environment = {"LANG": f"ja_JP.{encoding}@x"}
    assert replace(read_settings(), environment=environment).encoding == encoding


@pytest.mark.parametrize(
    "name",
    ["base64", "rot13", "idna", "undefined", "utf-16", "cp037", "punycode", "none", "\udc80"],
)
def test_an_encoding_without_ascii_in_itself_is_not_taken(name: str) -> None:
    environment = {"LANG": f"x.{name}"}
    assert replace(read_settings(), environment=environment).encoding == "utf-8"
    if name.isascii():
        shown = halo("--version", env={**environment, "LC_ALL": "", "LC_CTYPE": ""})
        assert (shown.status, shown.stderr) == (0, "") and shown.stdout.startswith("halo ")


def test_a_closed_standard_error_is_not_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    prepare_streams()
    say("halo: a sentence")
    sys.stderr.write("a warning")
    assert capsys.readouterr().out == ""
