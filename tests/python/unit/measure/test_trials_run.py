"""The stages of `halo run`: what is raced, and what the answer is measured with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from halo.base.schema.trial import Trial
from halo.base.settings import read_settings
from halo.binary.elf import FrameRule, RuleKind
from halo.binary.process.allocator_settings import SETTINGS
from halo.binary.process.allocators import Allocator
from halo.binary.process.target import find_target
from halo.measure import run as run_module
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.deep.choice import Choice, choose_variants
from halo.measure.findings import Findings
from halo.measure.inputs.roles import only
from halo.measure.inputs.unrecorded import TYPICAL
from halo.measure.journal import Journal
from halo.measure.racing.budget import EFFORTS, RACE
from halo.measure.racing.gains import Objective
from halo.measure.racing.sequential import LOOKS
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.machine import RECLAIMED
from halo.measure.session import MeasurementOptions, Session, identities
from halo.measure.stages import Rounds
from halo.plan import Group, Grouping, build_plan, read_plan, write_plan
from halo.plan.updates import chosen_allocator
from halo.record.profile import Module, Profile
from support.samples.findings import GLIBC, JEMALLOC, MACHINE, measured, samples, times
from support.samples.plan import Sample, any_alignment

JOB = Job(None, ())  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs in these tests, so there is no runner to ask."""
    monkeypatch.setattr(Session, "in_slices", lambda *_: False)


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
    session = Session(
        read_settings(), MeasurementOptions(0, tmp_path, {}), findings, Reporter("prog")
    )
    session.allocators = [GLIBC]
    session.native_seconds[JOB] = 1.0
    session.peak_memory[JOB] = 1 << 20
    run_module._race(session, Choice(), JOB, cast(Profile, None))
    assert findings.kept is not None and findings.kept.label == "none over glibc"
    assert findings.final == {}
    said = capsys.readouterr().err
    assert "no plan to race: running the allocators" in said
    assert "none, for there is no plan" in said


def test_the_runs_of_the_answer_are_expected_to_compare_as_the_first_ones() -> None:
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


@pytest.mark.parametrize("in_slices", [True, False])
@pytest.mark.parametrize(
    ("kept", "change", "setting", "holds_out", "expected"),
    [
        ("halo over glibc", 0.5, 0.75, False, ["glibc", "jemalloc:huge-pages", "halo"]),
        (
            "halo over glibc",
            0.95,
            0.75,
            False,
            ["glibc", "jemalloc", "jemalloc:huge-pages", "halo"],
        ),
        ("none over glibc", 0.5, 0.75, False, ["glibc", "jemalloc", "jemalloc:huge-pages"]),
        ("none over glibc", 0.5, 0.7, False, ["glibc", "jemalloc:huge-pages"]),
        (
            "halo over mimalloc",
            0.95,
            0.75,
            False,
            ["glibc", "jemalloc", "jemalloc:huge-pages", "mimalloc", "halo"],
        ),
        (
            "halo over glibc",
            0.5,
            0.75,
            True,
            ["glibc", "jemalloc", "mimalloc", "jemalloc:huge-pages", "halo"],
        ),
    ],
)
def test_the_answer_is_measured_with_what_may_be_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kept: str,
    change: float,
    setting: float,
    holds_out: bool,
    expected: list[str],
    in_slices: bool,
) -> None:
    """The program's own allocator, the best one, also with its best setting, and the plan.

    What the plan gains is told from what its allocator gains. If that or what the setting gains is
    much, and the rounds have time slices, the best allocator has no rounds without it.
    """
    monkeypatch.setattr(Session, "in_slices", lambda *_: in_slices)
    if not in_slices and not holds_out:
        expected = sorted({*expected, "jemalloc"})
    findings = measured({"halo": times(change)}, kept)
    mimalloc = Allocator("mimalloc", Path("/lib/libmimalloc.so"))
    findings.candidates = [
        *findings.candidates,
        Candidate(PlanVariant("halo", "halo"), mimalloc, tmp_path / "halo.plan"),
    ]
    huge = next(it for it in SETTINGS if (it.kind, it.name) == ("jemalloc", "huge-pages"))
    findings.training = {"glibc": times(1.0), "jemalloc": times(0.8), "mimalloc": times(0.9)}
    findings.settings = {"jemalloc": times(0.8), "jemalloc:huge-pages": times(setting)}
    asked: list[str] = []

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        asked[:] = [config.label for config in configs]
        return {config.label: times(1.0)[: rounds.recorded] for config in configs}

    monkeypatch.setattr(run_module, "measure", measure)
    session = Session(
        read_settings(), MeasurementOptions(7, tmp_path, {}), findings, Reporter("prog")
    )
    session.allocators = [GLIBC, JEMALLOC, mimalloc]
    session.settings_tried = [JEMALLOC.under(huge)]
    session.native_seconds[JOB] = 1.0
    session.peak_memory[JOB] = 1 << 20
    session.holds_out = holds_out
    run_module._answer(session, JOB)
    assert sorted(asked) == sorted(expected)


def test_the_same_plan_over_a_setting_is_another_configuration(tmp_path: Path) -> None:
    """A continued measurement must not mix their rounds, which have the same label."""
    session = Session(
        read_settings(), MeasurementOptions(0, tmp_path, {}), measured({}), Reporter("prog")
    )
    huge = next(it for it in SETTINGS if (it.kind, it.name) == ("jemalloc", "huge-pages"))
    (tmp_path / "halo.plan").write_bytes(b"plan")
    variant = PlanVariant("halo", "halo")
    plain, other = (
        session.planned(Candidate(variant, it, tmp_path / "halo.plan"), "halo")
        for it in (JEMALLOC, JEMALLOC.under(huge))
    )
    assert identities([plain]) != identities([other])


def timed_session(folder: Path, findings: Findings, elapsed: float, asked: int = 0) -> Session:
    """One with a journal, that began that number of seconds ago."""
    now = iter([0.0])
    reporter = Reporter("prog", clock=lambda: next(now, elapsed))
    session = Session(read_settings(), MeasurementOptions(asked, folder, {}), findings, reporter)
    session.journal = Journal(folder, {})
    return session


@pytest.mark.parametrize(
    ("asked", "native", "elapsed", "is_open", "rounds"),
    [
        (0, 1.0, 160.0, False, [4]),
        (0, 1.0, 160.0, True, [4, 7, 9, 12, 16]),
        (0, 1.0, 80.0, True, [4, 7, 9, 12, 16, 22, 30]),
        (0, 1000.0, 30000.0, False, [4]),
        (0, 1000.0, 30000.0, True, [4, 7, 9]),
        (0, 0.01, 160.0, True, [7, 9, 12, 16, 22, 30, 42]),
        (3, 0.01, 10.0, True, [3]),
        (20, 1000.0, 10.0, True, [20]),
    ],
)
def test_the_answer_has_more_rounds_while_it_is_open_and_there_is_time(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: int,
    native: float,
    elapsed: float,
    is_open: bool,
    rounds: list[int],
) -> None:
    done: list[int] = []

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        assert name == "reference"
        assert rounds.warm_up == (not done and session.timed is None), "a job that has run often"
        done.append(rounds.recorded)
        return {}

    findings = measured({})
    findings.training = {"glibc": times(native), "jemalloc": times(native)}
    session = timed_session(tmp_path, findings, elapsed, asked)
    session.native_seconds[JOB] = native
    session.peak_memory[JOB] = 1 << 20
    session.timed = JOB if asked else None
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "is_open", lambda _: is_open)
    configs = [Configuration("glibc", {}), Configuration("jemalloc", {})]
    run_module._measure(session, JOB, [*configs, replace(configs[0], label="halo")])
    assert done == rounds


def test_rounds_that_take_longer_than_expected_are_fewer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As beside other programs: the time of the measurement is kept."""
    now, done = [100.0], 0

    def measure(*given: Any) -> Any:
        nonlocal done
        now[0] += 5 * (given[-1].recorded + given[-1].warm_up - done)
        done = given[-1].recorded
        return {}

    findings = measured({})
    findings.training = {"glibc": times(1.0)}
    reporter = Reporter("prog", clock=lambda: now[0])
    session = Session(read_settings(), MeasurementOptions(0, tmp_path, {}), findings, reporter)
    session.journal = Journal(tmp_path, {})
    session.native_seconds[JOB] = 1.0
    session.peak_memory[JOB] = 1 << 20
    now[0] += 100
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "is_open", lambda _: True)
    run_module._measure(session, JOB, [Configuration(name, {}) for name in ("glibc", "halo")])
    assert done == 16 and reporter.elapsed <= session.budget(JOB).seconds + 5


def test_an_answer_that_is_continued_has_the_time_that_it_had_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a finished measurement would go on, as little time has passed since it was opened."""
    done: list[list[int]] = []

    def measure(*given: Any) -> Any:
        done[-1].append(given[-1].recorded)
        return {}

    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "is_open", lambda _: True)
    for elapsed, native in ((390.0, 10.0), (1.0, 11.0)):  # the first runs are run again
        done.append([])
        findings = measured({})
        findings.training = {"glibc": times(native)}
        session = timed_session(tmp_path, findings, elapsed)
        session.native_seconds[JOB] = native
        session.peak_memory[JOB] = 1 << 20
        run_module._measure(session, JOB, [Configuration(name, {}) for name in ("glibc", "halo")])
    assert done[0] == done[1] and done[0][-1] < LOOKS[-1]


def test_the_cool_downs_of_the_answer_count_for_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After huge pages, a run of a short program waits for seconds."""
    last = 0

    def measure(*given: Any) -> Any:
        nonlocal last
        last = given[-1].recorded
        return {}

    findings = measured({})
    findings.training = {"glibc": times(0.01)}
    session = timed_session(tmp_path, findings, 100.0)
    session.native_seconds[JOB] = 0.01
    session.peak_memory[JOB] = 1 << 20
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "is_open", lambda _: True)
    monkeypatch.setattr(run_module, "cooldown", lambda: RECLAIMED)
    names = ("glibc", "jemalloc:huge-pages", "halo")
    run_module._measure(
        session, JOB, [Configuration(it, {}, needs_cooldown=it != "glibc") for it in names]
    )
    assert last * 2 * RECLAIMED <= session.budget(JOB).seconds - 100


def _share(config: Configuration) -> float:
    """Seconds of a plan, which may gain, or of its allocator."""
    return 0.0097 if config.label.startswith("plan-") else 0.01


@pytest.mark.parametrize("asked", [0, 1])
def test_the_cool_downs_of_a_race_count_for_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: int
) -> None:
    """Under a setting with huge pages, a race of a short program is mostly cool-downs."""
    findings = Findings("prog", {}, MACHINE)
    findings.training = {"glibc": times(0.01)}
    huge = GLIBC.under(next(it for it in SETTINGS if it.name == "huge-pages"))
    findings.settings = {"glibc": times(0.01), huge.name: times(0.007)}
    session = Session(
        read_settings(), MeasurementOptions(asked, tmp_path, {}), findings, Reporter("prog")
    )
    session.allocators, session.settings_tried = [GLIBC], [huge]
    session.native_seconds[JOB] = 0.01
    session.peak_memory[JOB] = 1 << 20
    cooled, rng = 0, random.Random(1)

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        nonlocal cooled
        cooled += rounds.recorded * sum(config.needs_cooldown for config in configs)
        return {
            config.label: samples(
                [rng.uniform(0.9, 1.1) * _share(config) for _ in range(rounds.recorded)]
            )
            for config in configs
        }

    plans = [
        (PlanVariant(f"plan-{number}", "dense"), tmp_path / f"{number}.plan", True)
        for number in range(6)
    ]
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "make_plans", lambda *_: plans)
    monkeypatch.setattr(run_module, "cooldown", lambda: RECLAIMED)
    run_module._race(session, Choice(), JOB, cast(Profile, None))
    assert all(findings.race.values()), "all were compared"
    assert cooled * RECLAIMED <= RACE * session.budget(JOB).seconds


def test_a_leader_that_is_kept_without_a_final_is_not_said_to_gain_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is no time for a final of a long program."""
    findings = Findings("prog", {}, MACHINE)
    findings.training = {"glibc": times(100.0)}
    session = Session(
        read_settings(), MeasurementOptions(0, tmp_path, {}), findings, Reporter("prog")
    )
    session.allocators = [GLIBC]
    session.native_seconds[JOB] = 100.0
    session.peak_memory[JOB] = 1 << 20

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        shares = {it.label: 80.0 if it.label == "plan-3 over glibc" else 100.0 for it in configs}
        return {label: times(share)[: rounds.recorded] for label, share in shares.items()}

    variants = [PlanVariant(f"plan-{at}", "dense") for at in range(9)]
    plans = [(it, tmp_path / f"{it.label}.plan", False) for it in variants]
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "make_plans", lambda *_: plans)
    run_module._race(session, Choice(), JOB, cast(Profile, None))
    assert findings.final == {} and findings.kept is not None
    assert findings.kept.label == "plan-3 over glibc"
    assert "no plan may gain" not in capsys.readouterr().err


def test_the_race_for_memory_keeps_what_has_the_least_among_the_fastest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race for time keeps the fastest, whatever its memory."""
    megabytes = {"none": 100, "fast": 150, "small": 60, "slow": 10}
    seconds = {"none": 1.0, "fast": 0.9, "small": 0.91, "slow": 1.3}

    def measure(
        _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
    ) -> Any:
        found = {}
        for label in (config.label for config in configs):
            plan = label.partition(" ")[0]
            memory = megabytes[plan] * 10**6
            trials = [times(seconds[plan])[at % 11] for at in range(rounds.recorded)]
            found[label] = [Trial(it.wall, it.user, 0.0, memory) for it in trials]
        return found

    plans = [
        (PlanVariant(label, "dense"), tmp_path / f"{label}.plan", False)
        for label in ("fast", "small", "slow")
    ]
    monkeypatch.setattr(run_module, "measure", measure)
    monkeypatch.setattr(run_module, "make_plans", lambda *_: plans)
    kept = {}
    for objective in Objective:
        findings = Findings("prog", {}, MACHINE, objective=objective)
        findings.training = {"glibc": times(1.0)}
        session = Session(
            read_settings(), MeasurementOptions(0, tmp_path, {}), findings, Reporter("prog")
        )
        session.allocators = [GLIBC]
        session.native_seconds[JOB] = 1.0
        session.peak_memory[JOB] = 1 << 20
        run_module._race(session, Choice(), JOB, cast(Profile, None))
        kept[objective] = findings.kept.label if findings.kept is not None else ""
    assert kept == {Objective.TIME: "fast over glibc", Objective.MEMORY: "small over glibc"}


@pytest.mark.parametrize("effort", EFFORTS)
def test_only_an_effort_that_records_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effort: str
) -> None:
    """Without a recording, the plans are those that need none, and nothing is remarked."""
    options = MeasurementOptions(0, tmp_path, {}, effort=EFFORTS[effort])
    session = Session(read_settings(), options, measured({}), Reporter("prog"))
    profile = cast(Profile, "recorded")
    asked: list[Job] = []

    def record(_: Session, job: Job, __: object) -> Profile:
        asked.append(job)
        return profile

    monkeypatch.setattr(run_module, "record", record)
    found = run_module._recorded(session, only(JOB), Choice().limits)
    assert (found, asked) == ((profile, [JOB]) if effort != "quick" else (None, []))
    if found is None:
        monkeypatch.setattr(run_module, "unrecorded_profile", lambda *_: profile)
        monkeypatch.setattr(run_module, "build_id_of", lambda _: "")
        job = Job(find_target("true", {"PATH": "/usr/bin"}), ())
        session.peak_memory[job] = 1
        every = Choice(choose_variants([]))
        choice, _ = run_module._without_recording(session, every, job)
        assert 0 < len(choice.variants) < len(every.variants)
        assert session.findings.unrecorded and session.remarks == []
