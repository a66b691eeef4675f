"""What is written down: the summary's keys, its figures, and files that are whole or absent."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from halo.base.errors import BadInput
from halo.base.files.atomic import write_json
from halo.base.schema.summary import RecordCost
from halo.cli.shared.repeat import again as repeated
from halo.measure import placement
from halo.measure.candidates import Candidate, PlanVariant
from halo.measure.deep.choice import choose_variants
from halo.measure.findings import Findings
from halo.measure.placement import conclude
from halo.measure.results import raw_results, summarize_findings
from halo.measure.statistics import Ratio
from halo.measure.table import next_step, remedy, table
from halo.report.results import read_measurement
from support.samples.findings import (
    JEMALLOC,
    MACHINE,
    NOISE,
    complete,
    eleven,
    measured,
    samples,
    times,
)

KEYS = {
    "program",
    "strategy",
    "candidates",
    "allocators",
    "halo",
    "best_baseline",
    "speedup",
    "verdict",
    "outputs_equal",
    "outputs_compared",
    "left_out",
    "record",
}


def test_the_summary_has_every_documented_key() -> None:
    summary = json.loads(json.dumps(to_builtins(summarize_findings(complete(1.0)))))
    assert set(summary) >= KEYS
    assert summary["strategy"] == "halo"
    assert summary["best_baseline"] == "jemalloc"
    assert summary["speedup"] == pytest.approx(2.0)
    assert summary["use"] == "halo" and summary["over_native"] == pytest.approx(3.0)
    assert summary["record"]["slowdown"] == 10.0
    assert set(summary["allocators"]) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}
    assert summary["allocators"]["glibc"] == {
        "median": 3.0,
        "quartiles": [3.0, 3.0],
        "peak_memory": 1000,
        "system": 0.0,
        "minor_faults": 0,
        "trials": 11,
    }
    assert summary["halo"]["huge_bytes"] == 7
    assert [c["seconds"] for c in summary["candidates"]] == [0.2, 0.1]
    assert [c["kept"] for c in summary["candidates"]] == [False, True]


def test_each_change_of_a_summary_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bootstrap takes milliseconds: one for each pair of candidates would take seconds."""
    computed: list[int] = []

    def counted(mine: Sequence[float], own: Sequence[float]) -> Ratio:
        computed.append(len(mine))
        return Ratio(1.0, 0.9, 1.1)

    monkeypatch.setattr(placement, "ratio", counted)
    plans = {f"plan-{number}": times(0.9) for number in range(5)}
    found = summarize_findings(measured(plans, "plan-0 over glibc"))
    assert [one.change is not None for one in found.candidates] == [False] + 5 * [True]
    assert computed == 5 * [11]


@pytest.mark.parametrize("trials", [1, 2, 3])
def test_results_of_few_trials_can_be_read_back(tmp_path: Path, trials: int) -> None:
    """One trial has no interval: JSON has no infinite numbers."""
    for kept in ("halo over jemalloc", "none over jemalloc"):
        findings = complete(1.0, kept)
        findings.reference = {name: found[:trials] for name, found in findings.reference.items()}
        write_json(raw_results(findings), tmp_path / "results.json")
        summary = read_measurement(tmp_path).summary
        assert summary.speedup is not None and (summary.speedup_interval is None) == (trials == 1)


def test_plans_that_are_compared_are_not_taken_for_allocators() -> None:
    """`halo study eval compare` measures several plans for its answer."""
    findings = complete(1.0)
    dense = Candidate(PlanVariant("dense plan", "dense"), JEMALLOC, Path("/r/dense.plan"))
    findings.candidates = [*findings.candidates, dense]
    findings.reference |= {"dense plan": eleven(0.5), "random-pools plan": eleven(0.6)}
    assert findings.use == "halo"
    summary = summarize_findings(findings)
    assert summary.best_baseline == "jemalloc" and summary.speedup == pytest.approx(2.0)
    assert set(summary.allocators) == {"glibc", "jemalloc", "mimalloc", "tcmalloc"}


def test_what_was_not_measured_is_null() -> None:
    findings = Findings("prog", {}, MACHINE)
    findings.outputs_equal, findings.failure = False, "The output differs."
    summary = to_builtins(summarize_findings(findings))
    assert set(summary) >= KEYS
    assert summary["outputs_equal"] is False
    assert summary["halo"] is summary["speedup"] is summary["record"] is None


def test_raw_results_hold_every_trial() -> None:
    raw = to_builtins(raw_results(complete(1.0)))
    assert len(raw["trials"]["reference"]["halo"]) == 11
    assert raw["trials"]["reference"]["halo"][0]["runtime"]["huge_bytes"] == 7


def test_the_next_step_is_a_command() -> None:
    folder = Path("/r")
    assert next_step(complete(1.0), "halo", folder, ["prog", "a b"]) == (
        "halo exec --plan /r/halo.plan --allocator jemalloc -- prog 'a b'"
    )
    plain = next_step(complete(2.0, kept="none over jemalloc"), "halo", folder, ["prog"])
    assert plain.startswith("env LD_PRELOAD=/")
    assert plain.endswith("libjemalloc.so.2 prog")
    lost = next_step(complete(2.5), "halo", folder, ["prog"])
    assert lost.endswith("libjemalloc.so.2 prog")  # a plan that loses in the answer
    noisy = complete(2.0)
    noisy.reference["halo"] = samples([1.98, 2.01, 2.1] * 4)
    assert next_step(noisy, "halo", folder, ["prog"]) == lost, "slower, though not for certain"
    setting = complete(2.5)
    setting.reference["jemalloc:huge-pages"] = eleven(1.5)
    assert " MALLOC_CONF=thp:always,metadata_thp:always prog" in next_step(
        setting, "halo", folder, ["prog"]
    )


def again(trials: str) -> str:
    return f"again {trials}".strip()


def test_every_answer_without_a_use_has_a_command() -> None:
    folder = Path("/r s/prog-1")

    def step(findings: Findings) -> str:
        assert next_step(findings, "halo", folder, ["prog", "a b"]) == ""
        return remedy(findings, "halo", folder, again)

    for nothing in ({"halo": times(1.001)}, {"halo": times(1.12)}, {}):
        assert step(measured(nothing)) == "halo report '/r s/prog-1' -o prog-1.html"
    half = [(1 + time) / 2 for time in NOISE]
    noisy = measured({"halo": times(1.0)}, reference={"jemalloc": times(0.96, half)})
    found = re.search(r"--trials \d+", conclude(noisy).sentence)
    assert found is not None and step(noisy) == f"again {found[0].split()[1]}"
    few = measured({"halo": times(1.0)})
    few.reference = {label: trials[:3] for label, trials in few.reference.items()}
    assert step(few) == "again 7"
    wide = times(1.0, NOISE)
    assert step(measured({"halo": times(1.0)}, reference={"jemalloc": wide})) == "again"


def test_the_answer_names_what_the_next_step_uses() -> None:
    for plans in ({}, {"halo": times(1.0)}, {"halo": times(1.12)}, {"halo": times(1.0, NOISE)}):
        for time, trials in ((1.3, 11), (0.9, 11), (0.9, 3)):
            findings = measured(plans, reference={"jemalloc": times(time)})
            few = {label: found[:trials] for label, found in findings.reference.items()}
            findings.reference = few
            step = next_step(findings, "halo", Path("/r"), ["prog"])
            sentence = conclude(findings).sentence
            assert (time == 0.9) == bool(step) if trials == 11 else not step
            assert ("libjemalloc" in step) == ("use jemalloc: 1.11 times as fast" in sentence)


def test_a_repeated_command_is_the_one_that_was_typed() -> None:
    options = argparse.Namespace(words=["run", "--results", "a b", "--trials=3", "--cpu", "1"])
    typed = ["prog", "--trials", "x y", "--", "prog", ""]
    words = shlex.split(repeated("halo", options, typed, "40"))
    assert words == ["halo", "run", "--cpu", "1", "--trials", "40", "--", *typed]
    words = shlex.split(repeated("halo", options, typed, ""))
    assert words == ["halo", "run", "--trials=3", "--cpu", "1", "--", *typed]


def names(*all_findings: Findings) -> list[str]:
    grid = table(all_findings)
    at = [field.name for field in grid.fields].index("under")
    return [str(row.cells[at]) for row in grid.rows]


def test_halo_has_no_row_without_a_plan() -> None:
    """Its trials are then those of an allocator, so that their ratio says nothing of halo."""
    with_plan, without = complete(1.0), complete(2.4, kept="none over jemalloc")
    allocators = ["glibc", "jemalloc", "mimalloc", "tcmalloc"]
    plan = "the plan 'halo' over jemalloc"
    assert names(with_plan) == [*allocators, plan]
    assert names(without) == allocators
    assert names(without, with_plan) == [*allocators, *allocators, plan]
    assert [row.last for row in table([without, with_plan]).rows].index(True) == 3
    gains = [row.cells[-1] for row in table([with_plan]).rows]
    assert gains[0] == "" and str(gains[-1]) == "3.00 (3.00 to 3.00)"


def test_another_allocator_is_advised_only_if_it_is_significantly_faster() -> None:
    few = complete(2.0, kept="none over jemalloc")
    few.reference = {label: found[:3] for label, found in few.reference.items()}
    assert next_step(few, "halo", Path("/r"), ["prog"]) == ""
    equal = complete(2.0, kept="none over jemalloc")
    equal.reference["glibc"] = eleven(2.0)
    assert next_step(equal, "halo", Path("/r"), ["prog"]) == ""


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ((5.0, 0, 0), "busy"),
        (MACHINE.load_average, None),
    ],
)
def test_a_busy_machine_is_said(load: tuple[float, ...], words: str | None) -> None:
    findings = complete(1.0)
    findings.machine = replace(MACHINE, load_average=load)
    found = summarize_findings(findings).warnings
    assert (words in " ".join(found)) if words else not found


def test_wide_spread_and_an_idle_runtime_are_said() -> None:
    findings = complete(1.0)
    findings.reference["glibc"] = [s for t in (1, 2, 3) for s in eleven(t)]
    findings.reference["halo"] = eleven(1.0, active=False, reason="the build-id differs")
    found = " ".join(summarize_findings(findings).warnings)
    assert "The times vary much" in found and "glibc (" in found
    assert "the build-id differs" in found


@pytest.mark.parametrize("taker", ["", "/opt/libprofiler.so"])
def test_a_library_between_the_program_and_malloc_is_said(taker: str) -> None:
    findings = complete(1.0)
    findings.reference["halo"] = eleven(1.0, active=True, calls_taken_by=taker)
    found = " ".join(summarize_findings(findings).warnings)
    assert ("Calls of malloc lead to libprofiler.so." in found) is bool(taker)


@pytest.mark.parametrize(("compared", "said"), [(True, True), (False, False)])
def test_an_output_that_is_not_compared_is_not_warned_of(compared: bool, said: bool) -> None:
    findings = complete(1.0)
    findings.record, findings.outputs_compared = RecordCost(2.0, 0.2, False, 10.0), compared
    found = " ".join(summarize_findings(findings).warnings)
    assert ("under the recorder" in found) is said


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "summary.json"
    write_json({"a": 1}, path)
    with pytest.raises(TypeError):
        write_json({"a": object()}, path)
    assert json.loads(path.read_text()) == {"a": 1}
    assert [entry.name for entry in path.parent.iterdir()] == ["summary.json"]
    with pytest.raises(BadInput):
        write_json({}, tmp_path / "new" / "summary.json" / "below.json")


def test_candidates_are_chosen_by_strategy_or_label() -> None:
    assert {variant.strategy for variant in choose_variants(["halo"])} == {"halo"}
    assert choose_variants(["none"]) == []
    assert len(choose_variants([])) >= 3
