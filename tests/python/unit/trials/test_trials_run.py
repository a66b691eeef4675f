"""Which further rounds a study runs before it says that a program is not placement-sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from halo.elf import FrameRule, RuleKind
from halo.plan import Group, Grouping, build_plan, read_plan, write_plan
from halo.profile import Module, Profile
from halo.settings import read_settings
from halo.trials import run as run_module
from halo.trials.candidates import Candidate, PlanVariant
from halo.trials.findings import Findings
from halo.trials.inputs.unrecorded import TYPICAL
from halo.trials.reporter import Reporter
from halo.trials.run import Choice
from halo.trials.runs.job import Configuration, Job
from halo.trials.session import Options, Session
from halo.trials.stages import Rounds
from halo.updates import chosen_allocator
from support.samples.findings import GLIBC, JEMALLOC, MACHINE, NOISE, measured, times
from support.samples.plan import Sample, any_alignment

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


def test_without_a_plan_the_race_chooses_among_the_allocators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one allocator, too."""
    findings = Findings("prog", {}, MACHINE)
    findings.training = {"glibc": times(1.0)}

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        return {config.label: times(1.0)[: rounds.recorded] for config in configs}

    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "make_plans", lambda *_: [])
    session = Session(read_settings(), Options(0, tmp_path, {}), findings, Reporter("prog"))
    session.allocators = [GLIBC]
    run_module._race(session, Choice(), JOB, cast(Profile, None))
    assert findings.kept is not None and findings.kept.label == "none over glibc"
    assert findings.final == {}
    said = capsys.readouterr().err
    assert "no plan to race: running the allocators on the training input" in said
    assert "none, for there is no plan" in said


def test_the_further_rounds_are_expected_with_their_cool_downs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = measured({"halo": times(1.0)[:3]})
    none, plan = findings.candidates
    findings.candidates = [none, replace(plan, huge_pages=True)]
    rounds_asked_for(findings, tmp_path, monkeypatch)
    assert "about 16 s)" in capsys.readouterr().err, "4 rounds of 1 s and 3 s"


def test_the_reference_runs_are_expected_to_compare_as_those_on_the_training_input() -> None:
    findings = measured({"halo": times(0.5)})
    findings.training = {"glibc": times(2.0), "mimalloc": times(1.0)}
    usual = {label: run_module._relative(findings, label) for label in ("mimalloc", "other")}
    assert usual == {"mimalloc": pytest.approx(0.5, rel=0.1), "other": TYPICAL}


def test_a_copy_of_the_kept_plan_names_its_next_allocator(tmp_path: Path) -> None:
    """Its compact form, which is a part of the journal's keys, stays the same."""
    sample = Sample()
    sample.add([16, (1, 32), 48], accesses=9)
    grouping = Grouping("test", (Group((0,), "reason", 0.25, 0),))
    plan = build_plan(sample.profile(), grouping, {}, no_rule, prove=any_alignment)
    path = tmp_path / "halo.plan"
    write_plan(plan, path)
    before = path.read_bytes()
    run_module._name_allocator(Candidate(PlanVariant("halo", "halo"), JEMALLOC, path))
    assert path.read_bytes() == before
    for file in tmp_path.iterdir():
        file.rename(file.with_name(file.name.replace("halo", "copy")))
    copy = tmp_path / "copy.plan"
    assert chosen_allocator(copy, read_plan(copy)) == "jemalloc"


def no_rule(module: Module, offset: int) -> FrameRule:
    return FrameRule(RuleKind.CONSTANT, 48, 16)
