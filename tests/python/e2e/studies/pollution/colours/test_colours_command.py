"""`halo study colours` on this machine."""

from __future__ import annotations

import json
import time
from pathlib import Path

from support.command import halo


def test_the_test_takes_less_than_two_seconds_and_says_its_verdict(tmp_path: Path) -> None:
    begin = time.monotonic()
    done = halo("study", "colours", "--test", "--json", str(tmp_path / "a.json"))
    took = time.monotonic() - begin
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("on this machine.") or "effect" in done.stdout
    document = json.loads((tmp_path / "a.json").read_text())
    assert [one["name"] for one in document["levels"]][:1] == ["L2"]
    assert all(one["same_ns"] > 0.3 for one in document["levels"] if one["tested"])
    assert took < 10, "two seconds on a machine without other work"


def test_other_uses_are_refused() -> None:
    assert halo("study", "colours").status == 111
    assert halo("study", "colours", "--test", "--", "true").status == 111
