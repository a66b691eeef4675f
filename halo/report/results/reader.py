"""Reads a results file and refuses what no figure may be drawn of: damaged, newer, unfinished."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from halo.base.errors import BadInput
from halo.base.files import kinds
from halo.base.files.kinds import refuse_other
from halo.base.schema.aged import Aged
from halo.base.schema.document import Damaged, DocumentKind, load
from halo.base.schema.results import FORMAT, VERSION, Distances, Results
from halo.base.schema.trial import Trials
from halo.measure.racing.gains import HALO
from halo.report.results.aged import checked, unmeasured
from halo.report.results.migration import migrate
from halo.report.results.model import Measurement
from halo.report.results.simulated import recosted

NAME = "results.json"
ANALYSES = (
    " (`halo report` also takes the JSON of `halo study trace offenders`, `sharing` and `split`)"
)
RESULTS = DocumentKind(
    FORMAT,
    VERSION,
    Results,
    name="a results file of halo",
    give=f"give a {NAME} (a summary lacks the trials) of halo run or its folder{ANALYSES}",
    again="measure the program again",
    migrate=migrate,
)


def read_measurement(path: Path) -> Measurement:
    """The measurement in a results file, or in the results folder that holds it.

    Raises `BadInput`, with one sentence, if it cannot be read, is another kind of file, damaged or
    newer, or if the measurement failed or was not finished.
    """
    file = path / NAME if path.is_dir() else path
    if file != path and not file.exists():
        raise BadInput(_missing(path))
    refuse_other(file, BadInput, kinds.RESULTS)
    results = load(file, RESULTS)
    _check_ending(results, file)
    try:
        results = _ordered(results)
    except Damaged as error:
        raise RESULTS.damaged(file, error) from error
    measurement = Measurement(file, results)
    _check_complete(measurement)
    return measurement


def _missing(folder: Path) -> str:
    below = sorted(inner.parent.name for inner in folder.glob(f"*/{NAME}"))
    if below:
        return f"{folder} holds folders of results; give them: {folder}/* (such as {below[0]})."
    makers = "halo run, halo bench or halo study eval compare"
    return f"{folder} holds no {NAME}; give a results folder of {makers}."


def _check_ending(results: Results, file: Path) -> None:
    """A measurement that failed, or whose outputs differed, has no figures."""
    summary = results.summary
    if summary.failure:
        raise BadInput(
            f"{file} is of a measurement that failed: {summary.failure.rstrip('.')}; fix that and"
            " measure the program again."
        )
    if summary.outputs_equal is not True and summary.outputs_compared:
        raise BadInput(
            f"{file} is of a measurement whose outputs differed between trials, so that its times"
            " compare different work; make the program's output the same in every run and measure"
            " again."
        )


def _ordered(results: Results) -> Results:
    """With points and levels in order, and modelled cycles at the costs of today."""
    found, simulation, aged = results.distances, results.simulation, results.aged
    if found is not None:
        points = tuple(sorted(found.points, key=lambda point: point.distance))
        found = replace(found, points=points)
    if simulation is not None:
        if not simulation.configurations:
            raise Damaged("simulation has no configurations")
        runs = recosted(simulation.configurations, simulation.machine, "simulation")
        simulation = replace(simulation, configurations=runs)
    if aged is not None:
        aged = checked(aged)
    return replace(results, distances=found, simulation=simulation, aged=aged)


def _check_complete(measurement: Measurement) -> None:
    """Every configuration has as many trials as the others; else a measurement ended half-way."""
    file, results = measurement.path, measurement.results
    if not measurement.reference:
        raise BadInput(
            f"{file} holds no trials on the reference input: the measurement was not finished;"
            " repeat it."
        )
    _check_equal(measurement.reference, file, "the reference input")
    _check_equal(results.training, file, "the training input")
    if results.distances is not None:
        _check_distances(results.distances, file)
    if results.aged is not None:
        _check_aged(results.aged, file)
    if measurement.kept is not None and HALO not in measurement.reference:
        raise BadInput(
            f"{file} kept a candidate that was not measured on the reference input: the"
            " measurement was not finished; repeat it."
        )


def _check_distances(found: Distances, file: Path) -> None:
    if not found.points:
        raise BadInput(f"{file} has no affinity distance that was measured; repeat it.")
    named = {f"distance {point.distance}": point.trials for point in found.points}
    _check_equal({"the baseline": found.baseline, **named}, file, "the distances")


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
    maximum = max(trials, key=lambda label: len(trials[label]))
    minimum = min(trials, key=lambda label: len(trials[label]))
    if len(trials[minimum]) < max(1, len(trials[maximum])):
        raise BadInput(
            f"{file} has {len(trials[minimum])} trials of {minimum} and {len(trials[maximum])}"
            f" of {maximum} on {where}: the measurement was not finished; repeat it."
        )
