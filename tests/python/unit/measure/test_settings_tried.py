"""Which settings of allocators are timed, and which of them stay in the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from halo.base.schema.trial import Trial
from halo.base.settings import read_settings
from halo.binary.process.allocator_settings import SETTINGS
from halo.binary.process.allocators import Allocator, find_allocator
from halo.measure.findings import Findings
from halo.measure.inputs import allocator_settings as module
from halo.measure.inputs.allocator_settings import ranked, time_settings
from halo.measure.racing.budget import Budget
from halo.measure.reporter import Reporter
from halo.measure.results import summarize_findings
from halo.measure.run import next_allocators
from halo.measure.runs.job import Configuration, Job
from halo.measure.runs.machine import RECLAIMED
from halo.measure.session import MeasurementOptions, Session
from halo.measure.stages import Rounds
from support.samples.findings import MACHINE, STEADY, times

JOB = Job(None, ())  # type: ignore[arg-type]
GLIBC, JEMALLOC, MIMALLOC, TCMALLOC = map(
    find_allocator, ("glibc", "jemalloc", "mimalloc", "tcmalloc")
)
EQUAL = dict.fromkeys(("glibc", "jemalloc", "mimalloc", "tcmalloc"), 1.0)


def threaded(factor: float) -> list[Trial]:
    """Runs whose main thread does half of the work."""
    return [replace_main(trial, trial.user / 2) for trial in times(factor)]


def alone(factor: float) -> list[Trial]:
    return [replace_main(trial, trial.user) for trial in times(factor)]


def replace_main(trial: Trial, seconds: float) -> Trial:
    return Trial(trial.wall, trial.user, 0.0, trial.peak_memory, main_processor=seconds)


class Tried:
    """A session after the allocators were timed; the times of settings are over the plain ones."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        training: Mapping[str, Sequence[Trial]],
        times_of: Mapping[str, float] | None = None,
        environment: Mapping[str, str] | None = None,
        huge_pages: bool = True,
        allocators: Sequence[Allocator] = (GLIBC, JEMALLOC, MIMALLOC, TCMALLOC),
    ) -> None:
        self.asked: list[str] = []
        self.measured: list[Configuration] = []
        findings = Findings("prog", {}, MACHINE)
        findings.training = {name: list(found) for name, found in training.items()}
        options = MeasurementOptions(0, folder, environment or {}, native=allocators[0])
        self.session = Session(read_settings(), options, findings, Reporter("prog"))
        self.session.allocators = list(allocators)
        factors = dict(times_of or {})

        def measure(
            _: Session, name: str, job: Job, configs: Sequence[Configuration], rounds: Rounds
        ) -> Any:
            assert job == JOB
            labels = [config.label for config in configs]
            if name == "settings":
                self.measured, self.asked, self.rounds = list(configs), labels, rounds.recorded
            else:
                assert name == "hopeful-settings"
                assert rounds.recorded == len(next(iter(training.values()))) - self.rounds
            known = {label: factors.get(label, 1.0) for label in labels}
            first = 0 if name == "settings" else self.rounds
            usual = (2 * STEADY)[first : first + rounds.recorded]
            return {label: times(factor, usual) for label, factor in known.items() if factor}

        monkeypatch.setattr(module, "measure", measure)
        monkeypatch.setattr(module, "has_huge_pages", lambda: huge_pages)
        time_settings(self.session, JOB)

    @property
    def settings(self) -> set[str]:
        return {label for label in self.asked if ":" in label}


def equal(make: Any = alone) -> dict[str, list[Trial]]:
    return {name: make(factor) for name, factor in EQUAL.items()}


@pytest.mark.parametrize("make", [alone, threaded])
def test_settings_of_threads_are_tried_with_threads_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    tried = Tried(tmp_path, monkeypatch, equal(make))
    every = {f"{it.kind}:{it.name}" for it in SETTINGS}
    threads = {"jemalloc:background", "tcmalloc:large-caches"}
    assert tried.settings == (every if make is threaded else every - threads)
    assert tried.session.remarks == []


def test_an_unknown_share_of_the_main_thread_is_not_taken_for_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(tmp_path, monkeypatch, equal(times))
    assert "jemalloc:background" not in tried.settings


def test_without_huge_pages_of_the_kernel_no_such_setting_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(tmp_path, monkeypatch, equal(), huge_pages=False)
    assert tried.asked == []


def test_a_setting_is_measured_in_the_rounds_of_its_allocator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(tmp_path, monkeypatch, equal())
    assert tried.asked[:3] == ["glibc", "jemalloc", "mimalloc"]
    by_label = {config.label: config for config in tried.measured}
    huge = by_label["mimalloc:huge-pages"]
    assert huge.environment["MIMALLOC_LARGE_OS_PAGES"] == "1"
    assert huge.environment["LD_PRELOAD"] == str(MIMALLOC.library)
    assert huge.optional
    own = by_label["glibc:huge-pages"]
    assert "LD_PRELOAD" not in own.environment
    assert own.optional, "a setting under which the program fails is left out"


@pytest.mark.parametrize(("seconds", "near"), [(1.09, True), (1.12, False)])
def test_settings_of_an_allocator_that_is_far_from_the_fastest_are_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, near: bool
) -> None:
    training = {"glibc": alone(1.0), "jemalloc": alone(seconds), "tcmalloc": alone(2.0)}
    tried = Tried(tmp_path, monkeypatch, training)
    assert ("jemalloc:huge-pages" in tried.settings) is near
    assert "glibc:huge-pages" in tried.settings
    assert not any("mimalloc" in label for label in tried.asked), "it cannot run the program"


def test_the_settings_of_a_short_program_take_a_small_part_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cool-downs after huge pages take much longer than its runs."""
    training = {name: [one for one in alone(0.01) for _ in range(2)][:15] for name in EQUAL}
    tried = Tried(tmp_path, monkeypatch, training)
    cooled = sum(config.needs_cooldown for config in tried.measured)
    assert "jemalloc:huge-pages" in tried.settings
    assert 15 * cooled * RECLAIMED <= 0.1 * Budget(0.01).seconds


def test_nothing_is_measured_if_there_is_nothing_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = {"tcmalloc": alone(1.0), "glibc": alone(1.5)}
    tried = Tried(tmp_path, monkeypatch, training)
    assert tried.asked == [] and tried.session.findings.settings == {}


@pytest.mark.parametrize("value", ["narenas:1", ""])
def test_a_variable_that_the_user_has_set_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """And the answer says so; an empty one sets nothing."""
    tried = Tried(tmp_path, monkeypatch, equal(), environment={"MALLOC_CONF": value})
    assert ("jemalloc:huge-pages" not in tried.settings) is bool(value)
    assert "glibc:huge-pages" in tried.settings
    sentence = "MALLOC_CONF is set, so jemalloc keeps it and has no other setting."
    assert tried.session.remarks == ([sentence] if value else [])
    untried = {"jemalloc:huge-pages": "MALLOC_CONF is set"}
    assert tried.session.findings.untried == (untried if value else {})


def test_a_setting_that_the_installed_version_does_not_know_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "libold.so"
    old.write_bytes(b"\0sdallocx\0opt.background_thread\0")
    training = {"glibc": threaded(1.0), "jemalloc": threaded(1.0)}
    allocators = [GLIBC, replace(JEMALLOC, library=old)]
    tried = Tried(tmp_path, monkeypatch, training, allocators=allocators)
    assert "jemalloc:background" in tried.settings
    assert "jemalloc:huge-pages" not in tried.settings
    said = capsys.readouterr().err
    assert "this version of jemalloc does not know huge-pages" in said
    assert "does not know background" not in said
    summary = summarize_findings(tried.session.findings)
    assert summary.untried == {"jemalloc:huge-pages": "this version of jemalloc does not know it"}


def test_an_unknown_setting_that_would_not_be_tried_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "libold.so"
    old.write_bytes(b"\0sdallocx\0")
    allocators = [GLIBC, replace(JEMALLOC, library=old)]
    training = {"glibc": alone(1.0), "jemalloc": alone(1.0)}
    tried = Tried(tmp_path, monkeypatch, training, allocators=allocators, huge_pages=False)
    assert tried.session.findings.untried == {}


def test_the_programs_own_allocator_has_the_settings_of_its_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Allocator("libjemalloc.so.2", None, own=JEMALLOC.library)
    training = {"libjemalloc.so.2": alone(1.0), "mimalloc": alone(3.0)}
    tried = Tried(tmp_path, monkeypatch, training, allocators=[own, MIMALLOC])
    assert tried.settings == {"libjemalloc.so.2:huge-pages"}
    assert all("LD_PRELOAD" not in config.environment for config in tried.measured)


def test_only_a_promising_setting_stays_in_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is promising if it is faster than its allocator without it, in each of the rounds."""
    training = {"glibc": alone(1.0), "jemalloc": alone(1.02), "mimalloc": alone(1.05)}
    seconds = {
        "glibc:huge-pages": 0.995,
        "jemalloc:huge-pages": 0.95,
        "mimalloc:huge-pages": 0.8,
    }
    tried = Tried(tmp_path, monkeypatch, training, seconds)
    assert [it.name for it, _ in ranked(tried.session)] == [
        "mimalloc:huge-pages",
        "jemalloc:huge-pages",
        "glibc",
        "jemalloc",
        "mimalloc",
    ]
    relative = {it.name: time for it, time in ranked(tried.session)}
    assert relative["mimalloc:huge-pages"] == pytest.approx(0.8 * relative["mimalloc"], rel=0.01)
    assert [it.name for it in next_allocators(tried.session)] == ["mimalloc:huge-pages"]


@pytest.mark.parametrize(("rounds", "is_promising"), [(3, False), (12, True)])
def test_a_setting_that_loses_in_one_round_is_promising_if_many_others_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int, is_promising: bool
) -> None:
    """Its median is far better, but two or three rounds are soon lucky."""
    usual = (2 * STEADY)[:rounds]
    training = {name: times(factor, usual) for name, factor in EQUAL.items()}
    tried = Tried(tmp_path, monkeypatch, training, {"mimalloc:huge-pages": 0.8})
    found = tried.session.findings.settings["mimalloc:huge-pages"]
    assert ranked(tried.session)[0][0].name == "mimalloc:huge-pages"
    found[0] = times(1.01)[0]
    assert ("mimalloc:huge-pages" in [it.name for it, _ in ranked(tried.session)]) is is_promising


@pytest.mark.parametrize(("factor", "is_promising"), [(0.97, False), (0.9, True)])
def test_a_single_round_shows_great_gains_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, is_promising: bool
) -> None:
    training = {name: times(known, STEADY[:1]) for name, known in EQUAL.items()}
    tried = Tried(tmp_path, monkeypatch, training, {"mimalloc:huge-pages": factor})
    names = [it.name for it, _ in ranked(tried.session)]
    assert ("mimalloc:huge-pages" in names) is is_promising
    assert "mimalloc:huge-pages" in [it.name for it in next_allocators(tried.session)]


def test_a_setting_that_loses_clearly_leaves_after_half_of_the_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its allocator leaves with its last setting."""
    factors = {"glibc:huge-pages": 1.2, "jemalloc:huge-pages": 1.02, "mimalloc:huge-pages": 0.9}
    tried = Tried(tmp_path, monkeypatch, equal(), factors)
    rounds = {name: len(trials) for name, trials in tried.session.findings.settings.items()}
    assert len(STEADY) == 11
    assert rounds["glibc:huge-pages"] == rounds["glibc"] == 6
    assert rounds["jemalloc:huge-pages"] == rounds["jemalloc"] == 11
    assert rounds["mimalloc:huge-pages"] == rounds["mimalloc"] == 11


def test_allocators_are_ranked_by_the_deciding_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program made the faster one wait for a processor."""
    training = equal()
    training["tcmalloc"] = [
        Trial(3.0, 0.9, 0.0, it.peak_memory, main_processor=0.9, delayed=2.1)
        for it in training["tcmalloc"]
    ]
    tried = Tried(tmp_path, monkeypatch, training)
    assert ranked(tried.session)[0][0].name == "tcmalloc"


def test_a_setting_in_doubt_takes_part_in_the_race_if_it_may_be_the_fastest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plans are not made over it first, as its rounds may have been lucky."""
    huge = ("glibc:huge-pages", "jemalloc:huge-pages", "mimalloc:huge-pages")
    factors = {"glibc": 1.0, "jemalloc": 1.02, "mimalloc": 1.09}
    training = {name: times(factor, STEADY[:3]) for name, factor in factors.items()}
    tried = Tried(tmp_path, monkeypatch, training, dict.fromkeys(huge, 0.95))
    for name in huge:
        tried.session.findings.settings[name][0] = times(1.2)[0]
    assert all(":" not in it.name for it, _ in ranked(tried.session))
    names = [it.name for it in next_allocators(tried.session)]
    assert names == ["glibc", "jemalloc", "glibc:huge-pages", "jemalloc:huge-pages"]


def test_a_setting_under_which_the_program_fails_is_not_in_the_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Tried(tmp_path, monkeypatch, equal(), {"mimalloc:huge-pages": 0.0})
    assert "mimalloc:huge-pages" in tried.settings
    assert all(it.name != "mimalloc:huge-pages" for it in tried.session.settings_tried)
    assert all(it.name != "mimalloc:huge-pages" for it, _ in ranked(tried.session))
