"""The figures of programs on one last-level cache, against their bars."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from bench.studies import corun_bars as bars
from halo.studies.pollution.corun.document import CorunDocument, Mix, MixedProgram


def mix(name: str, kind: str, classes: str, speedups: Mapping[str, float]) -> Mix:
    """Two programs for each role."""
    programs = tuple(
        MixedProgram(
            name=f"{role}-{number}",
            role=role,
            speedups=(speedup, speedup, speedup),
            cycles=(1, 1, 1),
            misses=(1, 1, 1),
            requests=1,
            runs=(1, 1, 1),
        )
        for role, speedup in speedups.items()
        for number in (1, 2)
    )
    return Mix(name=name, kind=kind, classes=classes, programs=programs)


def everything(online: float, neutral: float) -> list[Mix]:
    found = []
    for number in range(6):
        values = {"open": 1.0, "online": online, "exact": 1.5, "random": 0.8, "confined": 0.5}
        for classes, victim in values.items():
            speedups = {"polluter": 1.0, "victim": victim}
            found.append(mix(f"pv-{number}", bars.MAIN, classes, speedups))
    for kind in bars.OTHERS:
        found.append(mix(kind, kind, "online", {"neutral": neutral}))
    return found


def write(path: Path, mixes: list[Mix]) -> str:
    document = CorunDocument(
        machine="e7420", colours=256, first=0, last=31, programs=(), mixes=tuple(mixes)
    )
    path.write_bytes(msgspec.json.encode(document))
    return str(path)


def verdicts(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {line[:24].strip(): line[86:] for line in capsys.readouterr().out.splitlines()}


def test_each_figure_is_compared_with_its_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for online, neutral, missed in (
        (1.46, 1.0, set()),
        (1.44, 1.0, {"best victim", "online"}),
        (1.1, 1.03, {"best victim", "mean of victims", "online", *bars.OTHERS}),
    ):
        path = write(tmp_path / "mixes.json", everything(online, neutral))
        monkeypatch.setattr(sys, "argv", ["corun_bars.py", path])
        assert bars.main() == 1, "there are no programs alone"
        found = verdicts(capsys)
        absent = {f"{name} programs" for name in ("polluter", "victim", "neutral")}
        assert {what for what, how in found.items() if how == "NOT REACHED"} == missed | absent
        assert found["all open"] == "reached"


def test_what_was_not_run_is_not_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = [it for it in everything(1.46, 1.0) if it.kind != "all-victim"]
    path = write(tmp_path / "mixes.json", [it for it in some if it.classes != "random"])
    monkeypatch.setattr(sys, "argv", ["corun_bars.py", path])
    bars.main()
    found = verdicts(capsys)
    assert found["all-victim"] == found["random"] == "not run"
