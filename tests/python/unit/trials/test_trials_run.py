"""Which further rounds a study runs before it says that a program is not placement-sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from halo.settings import read_settings
from halo.trials import run as run_module
from halo.trials.findings import Findings
from halo.trials.reporter import Reporter
from halo.trials.runs.job import Configuration, Job
from halo.trials.session import Options, Session
from support.samples.findings import NOISE, measured, times

JOB = Job(None, ())  # type: ignore[arg-type]


def rounds_asked_for(
    findings: Findings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The labels that run again; their times are the steady ones."""
    asked: list[str] = []

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], *rest: Any
    ) -> Any:
        asked.extend(config.label for config in configs)
        return {config.label: times(1.0)[:7] for config in configs}

    monkeypatch.setattr(run_module, "measure", measure)
    session = Session(read_settings(), Options(11, folder, {}), findings, Reporter("prog"))
    run_module._check_dropped(session, JOB)
    return asked


def test_plans_that_were_dropped_run_again_if_only_they_are_in_doubt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = measured({"halo": times(1.0), "dense": times(1.01)[:3], "hot": times(1.0)[:4]})
    asked = rounds_asked_for(findings, tmp_path, monkeypatch)
    assert asked == ["none over glibc", "dense over glibc", "hot over glibc"]
    assert set(findings.checked) == set(asked)


def test_if_a_plan_is_certainly_slower_only_those_with_the_most_rounds_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = measured({"dense": times(1.2)[:3], "hot": times(1.1)[:5], "one": times(1.0)[:5]})
    asked = rounds_asked_for(findings, tmp_path, monkeypatch)
    assert asked == ["none over glibc", "hot over glibc", "one over glibc"]


@pytest.mark.parametrize("case", ["a finalist is in doubt", "a plan was kept", "none was dropped"])
def test_no_time_is_spent_if_that_would_tell_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    halo = times(1.0, NOISE) if "doubt" in case else times(1.0)
    dense = times(1.0) if "dropped" in case else times(1.1)[:3]
    kept = "halo over glibc" if "kept" in case else "none over glibc"
    findings = measured({"halo": halo, "dense": dense}, kept)
    assert rounds_asked_for(findings, tmp_path, monkeypatch) == []
