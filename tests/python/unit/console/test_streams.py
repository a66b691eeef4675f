"""The standard streams, whatever the shell closed and the locale encodes."""

from __future__ import annotations

import io
import sys

import pytest

from halo.console.outcome import say
from halo.console.streams import prepare_streams


def test_names_that_are_not_utf_8_are_printed_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", errors="strict"))
    prepare_streams()
    print("caf\udce9.txt", flush=True)
    assert raw.getvalue() == b"caf\xe9.txt\n"


def test_a_closed_standard_error_is_not_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    prepare_streams()
    say("halo: a sentence")
    sys.stderr.write("a warning")
    assert capsys.readouterr().out == ""
