"""Traces have temporary names until their program has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from halo.studies.tracing.run import Drafts


def test_traces_of_a_run_replace_older_ones_when_it_has_ended(tmp_path: Path) -> None:
    output = tmp_path / "a.trace"
    output.write_text("old")
    drafts = Drafts(output)
    drafts.begin()
    drafts.path.write_text("new")
    drafts.path.with_name(f"{drafts.path.name}.17").write_text("of a child")
    drafts.path.with_name(f"{drafts.path.name}.text").write_text("another file")
    assert output.read_text() == "old"
    assert drafts.publish() == [output, tmp_path / "a.trace.17"]
    assert [path.read_text() for path in (output, tmp_path / "a.trace.17")] == ["new", "of a child"]
    assert drafts.publish() == []


def test_files_of_killed_runs_go_and_those_of_other_runs_stay(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive, mine = os.getppid(), os.getpid()
    stays = [f".a.trace.{alive}.new", f".a.trace.{alive}.new.5", f".b.trace.{ended.pid}.new"]
    stays.append(".a.trace.99999999999.new")  # no process id
    goes = [f".a.trace.{ended.pid}.new", f".a.trace.{ended.pid}.new.5.6", f".a.trace.{mine}.new"]
    for name in [*stays, *goes]:
        (tmp_path / name).touch()
    Drafts(tmp_path / "a.trace").begin()
    assert {path.name for path in tmp_path.iterdir()} == set(stays)
