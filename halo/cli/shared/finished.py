"""Answers of finished measurements, which are read back instead of being measured again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import UNSET

from halo.base.console.outcome import say
from halo.base.errors import BadInput, MissingPart, UsageError
from halo.base.schema.summary import RacedCandidate
from halo.binary.process.allocator_settings import setting_of
from halo.binary.process.allocators import Allocator, find_allocator
from halo.measure.candidates import NONE, Candidate, PlanVariant
from halo.measure.findings import Findings
from halo.measure.folders import is_finished
from halo.measure.inputs.question import Question, differences, read_question
from halo.measure.racing.gains import Objective
from halo.measure.racing.verdict import RaceVerdict
from halo.measure.session import STAGES
from halo.report.results import Measurement, read_measurement


def finished(folder: Path, asked: Question, resume: bool = False) -> Measurement | None:
    """The finished measurement in the folder, if it is of this question; None without any.

    Raises `BadInput` if it is of another question; with `resume` it is then continued: None.
    """
    if not is_finished(folder):
        return None
    then = read_question(folder / STAGES)
    unknown = ["what it was asked, which it does not tell"]
    changed = unknown if then is None else differences(then, asked)
    if not changed:
        say(f"halo: this was measured before, in {folder}; its answer:")
        return read_measurement(folder)
    if resume:
        return None
    raise BadInput(
        f"{folder} holds the results of another measurement, which would be overwritten: it differs"
        f" in {', '.join(changed)}; give another folder with --results, or remove this one."
    )


def findings_of(measurement: Measurement, native: Allocator) -> Findings:
    """The findings of `halo run`, `bench` and `eval baseline`, as they were.

    `native` is the allocator that the program has without halo.
    """
    results, summary = measurement.results, measurement.summary
    found = Findings(
        summary.program,
        results.commands,
        results.machine,
        record=summary.record,
        unrecorded=summary.unrecorded,
        candidates=[
            _candidate(measurement.folder, it, native, summary.options) for it in summary.candidates
        ],
        outputs_equal=summary.outputs_equal,
        outputs_compared=summary.outputs_compared,
        left_out=summary.left_out,
        untried=dict(summary.untried),
        failure="" if summary.failure is UNSET else summary.failure,
        native=native,
        answered=summary,
        objective=Objective(summary.objective),
        known={name: _known(name, native, summary.options) for name in summary.allocators},
    )
    trials = results.trials
    for mine, theirs in (
        ("training", trials.allocators_on_training),
        ("race", trials.candidates_on_training),
        ("final", trials.finalists_on_training),
        ("settings", trials.settings_on_training),
        ("reference", trials.reference),
    ):
        setattr(found, mine, {label: list(of_one) for label, of_one in theirs.items()})
    kept = next((it.label for it in summary.candidates if it.kept), None)
    if kept is not None:
        rounds = max(map(len, found.final.values()), default=0)
        found.verdict = RaceVerdict(kept, kept, rounds)
    return found


def _candidate(
    folder: Path, raced: RacedCandidate, native: Allocator, options: Mapping[str, str]
) -> Candidate:
    label = raced.label.removesuffix(f" over {raced.allocator}")
    variant = PlanVariant(label, raced.strategy, raced.options)
    plan = None if raced.strategy == NONE else folder / f"{label}.plan"
    allocator = _known(raced.allocator, native, options)
    return Candidate(variant, allocator, plan)


def _known(name: str, native: Allocator, options: Mapping[str, str]) -> Allocator:
    plain, _, setting = name.rpartition(":")
    own = setting_of(native.name, setting) if plain == native.name else None
    if own is not None:
        return native.under(own)
    return native if name == native.name else _allocator(name, options)


def _allocator(name: str, options: Mapping[str, str]) -> Allocator:
    try:
        return find_allocator(options.get(name, name))
    except (MissingPart, UsageError):  # removed since; it is only named
        return Allocator(name, None)
