"""Reads a results file and refuses what no figure may be drawn of: damaged, newer, unfinished."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halo.errors import BadInput
from halo.results.aged import parse_aged, unmeasured
from halo.results.document import Damaged, count, mapping, number, optional, rows, text
from halo.results.model import (
    Aged,
    Contender,
    Distance,
    Distances,
    Machine,
    Measurement,
    Recording,
    Trials,
)
from halo.results.simulated import parse_simulation
from halo.results.trials import parse_series, parse_trials
from halo.trials.candidates import NONE

FORMAT = "halo-results"
VERSION = 1
NAME = "results.json"
ANALYSES = " (`halo report` also takes the JSON of `halo offenders`, `sharing` and `split`)"


def read_measurement(path: Path) -> Measurement:
    """The measurement in a results file, or in the results folder that holds it.

    Raises `BadInput`, with one sentence, if it cannot be read, is another kind of file, damaged or
    newer, or if the measurement failed or was not finished.
    """
    file = path / NAME if path.is_dir() else path
    document = _load(file, path)
    try:
        _check_ending(document, file)
        measurement = _measurement(document, file)
    except Damaged as error:
        raise BadInput(f"{file} is damaged: {error}; measure the program again.") from error
    _check_complete(measurement)
    return measurement


def _load(file: Path, given: Path) -> dict[str, Any]:
    try:
        content = file.read_text("utf-8")
    except FileNotFoundError as error:
        raise BadInput(_missing(file, given)) from error
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(_foreign(file)) from error
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        if content.lstrip().startswith("{") and f'"{FORMAT}"' in content[:4096]:
            raise BadInput(f"{file} is cut short or damaged; measure the program again.") from error
        raise BadInput(_foreign(file)) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInput(_foreign(file))
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise BadInput(f"{file} is damaged: it has no version; measure the program again.")
    if version > VERSION:
        raise BadInput(
            f"{file} has version {version}, this halo reads up to {VERSION}; use the newer halo."
        )
    return document


def _missing(file: Path, given: Path) -> str:
    if file == given:
        return (
            f"{given} does not exist; give a {NAME} of halo run, or the folder that holds"
            f" it{ANALYSES}."
        )
    below = sorted(inner.parent.name for inner in given.glob(f"*/{NAME}"))
    if below:
        return f"{given} holds folders of results; give them: {given}/* (such as {below[0]})."
    return f"{given} holds no {NAME}; give a results folder of halo run, bench or evaluate."


def _foreign(file: Path) -> str:
    hint = " (a summary lacks the trials: give results.json)" if "summary" in file.name else ""
    return (
        f"{file} is not a results file of halo{hint}; give a {NAME} of halo run or its"
        f" folder{ANALYSES}."
    )


def _check_ending(document: Mapping[str, Any], file: Path) -> None:
    """A measurement that failed, or whose outputs differed, has no figures."""
    summary = mapping(document.get("summary"), "summary")
    failure = summary.get("failure")
    if failure:
        raise BadInput(
            f"{file} is of a measurement that failed: {str(failure).rstrip('.')}; mend that and"
            " measure the program again."
        )
    if summary.get("outputs_equal") is not True and summary.get("outputs_compared") is not False:
        raise BadInput(
            f"{file} is of a measurement whose outputs differed between trials, so that its times"
            " compare different work; make the program's output the same in every run and measure"
            " again."
        )


def _measurement(document: Mapping[str, Any], file: Path) -> Measurement:
    summary = mapping(document["summary"], "summary")
    trials = mapping(document.get("trials"), "trials")
    commands = mapping(document.get("commands"), "commands")
    interval = optional(summary.get("speedup_interval"), "speedup_interval", rows)
    ends = [number(end, "speedup_interval") for end in interval or []]
    if len(ends) not in (0, 2):
        raise Damaged("speedup_interval is not a pair")
    contenders = mapping(document.get("contenders", {}), "contenders")
    return Measurement(
        path=file,
        program=text(summary.get("program"), "summary.program"),
        commands={
            name: [text(word, "a command's word") for word in rows(words, f"commands.{name}")]
            for name, words in commands.items()
        },
        machine=_machine(mapping(document.get("machine"), "machine")),
        reference=parse_trials(trials.get("reference", {}), "trials.reference"),
        kept=_kept(summary, contenders),
        plans_tried=_plans_tried(summary),
        speedup=optional(summary.get("speedup"), "speedup", number),
        speedup_interval=(ends[0], ends[1]) if ends else None,
        recording=optional(summary.get("record"), "record", _recording),
        warnings=tuple(text(w, "a warning") for w in rows(summary.get("warnings", []), "warnings")),
        **_verdict(mapping(summary.get("verdict", {}), "summary.verdict")),
        outputs_compared=summary.get("outputs_compared") is not False,
        contenders={label: _contender(raw, label) for label, raw in contenders.items()},
        simulation=optional(document.get("simulation"), "simulation", parse_simulation),
        training=parse_trials(
            document.get("training_trials_of_contenders", {}), "training_trials_of_contenders"
        ),
        litter=optional(summary.get("litter"), "summary.litter", _litter) or "",
        distances=optional(document.get("distances"), "distances", _distances),
        aged=optional(document.get("aged"), "aged", parse_aged),
    )


def _verdict(raw: Mapping[str, Any]) -> dict[str, str]:
    return {key: text(raw.get(key, ""), f"summary.verdict.{key}") for key in ("answer", "sentence")}


def _machine(raw: Mapping[str, Any]) -> Machine:
    pages = mapping(raw.get("huge_pages"), "machine.huge_pages")
    versions = mapping(raw.get("versions"), "machine.versions")
    return Machine(
        processor=text(raw.get("processor"), "machine.processor"),
        cores=count(raw.get("cores"), "machine.cores"),
        memory_bytes=count(raw.get("memory_bytes"), "machine.memory_bytes"),
        kernel=text(raw.get("kernel"), "machine.kernel"),
        system=text(raw.get("system"), "machine.system"),
        huge_pages=text(pages.get("enabled"), "machine.huge_pages.enabled"),
        versions={name: text(it, f"machine.versions.{name}") for name, it in versions.items()},
    )


def _kept(summary: Mapping[str, Any], contenders: Mapping[str, Any]) -> Contender | None:
    if summary.get("strategy") is None:
        return None
    strategy = text(summary["strategy"], "summary.strategy")
    candidate = text(summary.get("candidate"), "summary.candidate")
    allocator = text(summary.get("allocator"), "summary.allocator")
    if candidate in contenders:
        return _contender(contenders[candidate], candidate)
    return Contender(strategy, candidate, allocator, plan=f"{candidate}.plan")


def _plans_tried(summary: Mapping[str, Any]) -> int:
    """The candidates of the race, each once, whatever allocator lay beneath."""
    tried = set()
    for item in rows(summary.get("candidates", []), "candidates"):
        found = mapping(item, "a candidate")
        if text(found.get("strategy"), "a candidate's strategy") != NONE:
            tried.add(text(found.get("label"), "a candidate's label").partition(" over ")[0])
    return len(tried)


def _contender(raw: Any, label: str) -> Contender:
    found = mapping(raw, f"contenders.{label}")
    return Contender(
        strategy=text(found.get("strategy"), f"contenders.{label}.strategy"),
        candidate=text(found.get("candidate"), f"contenders.{label}.candidate"),
        allocator=text(found.get("allocator"), f"contenders.{label}.allocator"),
        identification=optional(found.get("identification"), f"contenders.{label}", text),
        plan=optional(found.get("plan"), f"contenders.{label}.plan", text),
    )


def _litter(raw: Any, what: str) -> str:
    """The settings in words; those of the clean heap of `halo age` too, whose clock is another."""
    found = mapping(raw, what)
    multiplier = number(found.get("multiplier"), f"{what}.multiplier")
    if not multiplier:
        return "clean, timed from where the program begins"
    occupancy = number(found.get("occupancy"), f"{what}.occupancy")
    return f"littered, occupancy {occupancy:g}, multiplier {multiplier:g}"


def _recording(raw: Any, what: str) -> Recording:
    found = mapping(raw, what)
    return Recording(
        *(number(found.get(key), key) for key in ("seconds", "native_seconds", "slowdown"))
    )


def _distances(raw: Any, what: str) -> Distances:
    found = mapping(raw, what)
    points = []
    for item in rows(found.get("points"), f"{what}.points"):
        point = mapping(item, f"{what}.points")
        distance = count(point.get("distance"), f"{what}.distance")
        points.append(
            Distance(distance, parse_series(point.get("trials"), f"{what} at {distance}"))
        )
    return Distances(
        strategy=text(found.get("strategy"), f"{what}.strategy"),
        allocator=text(found.get("allocator"), f"{what}.allocator"),
        baseline=parse_series(found.get("baseline"), f"{what}.baseline"),
        points=tuple(sorted(points, key=lambda point: point.distance)),
    )


def _check_complete(measurement: Measurement) -> None:
    """Every contender has as many trials as the others; else a measurement ended half-way."""
    file = measurement.path
    if not measurement.reference:
        raise BadInput(
            f"{file} holds no trials on the reference input: the measurement was not finished;"
            " repeat it."
        )
    _check_equal(measurement.reference, file, "the reference input")
    _check_equal(measurement.training, file, "the training input")
    if measurement.distances is not None:
        found = measurement.distances
        if not found.points:
            raise BadInput(f"{file} has no affinity distance that was measured; repeat it.")
        named = {f"distance {point.distance}": point.trials for point in found.points}
        _check_equal({"the baseline": found.baseline, **named}, file, "the distances")
    if measurement.aged is not None:
        _check_aged(measurement.aged, file)
    if measurement.kept is not None and "halo" not in measurement.reference:
        raise BadInput(
            f"{file} kept a candidate that was not measured on the reference input: the"
            " measurement was not finished; repeat it."
        )


def _check_aged(aged: Aged, file: Path) -> None:
    missing = unmeasured(aged)
    if missing:
        raise BadInput(
            f"{file} has no trials of {missing}: the measurement was not finished; repeat it."
        )
    named = {
        f"{label} ({level.name})": trials
        for level in aged.levels
        for label, trials in level.trials.items()
    }
    _check_equal(named, file, "the aged heaps")


def _check_equal(trials: Trials, file: Path, where: str) -> None:
    if not trials:
        return
    most = max(trials, key=lambda label: len(trials[label]))
    least = min(trials, key=lambda label: len(trials[label]))
    if len(trials[least]) < max(1, len(trials[most])):
        raise BadInput(
            f"{file} has {len(trials[least])} trials of {least} and {len(trials[most])} of {most}"
            f" on {where}: the measurement was not finished; repeat it."
        )
