"""The part of `halo study eval compare` behind its options: programs and results folders."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from halo.base.errors import HaloError, UsageError
from halo.base.files.atomic import write_json
from halo.base.files.folder_lock import held
from halo.base.settings import Settings
from halo.binary.process.target import check_privileges, find_target
from halo.cli.shared.measuring_options import tolerant
from halo.cli.shared.program import plain_environment
from halo.cli.shared.results import drop_empty, report_outputs, results_folder
from halo.measure.bundled import find_bundled, list_plain, prepare
from halo.measure.evaluation import Comparison, compare
from halo.measure.findings import Findings
from halo.measure.reporter import Reporter
from halo.measure.runs.job import Job, repeat_options
from halo.measure.runs.machine import describe_machine
from halo.measure.session import MeasurementOptions, Session
from halo.ship.doctor.native import native_allocator


@dataclass(frozen=True)
class Subject:
    """A program to evaluate, with its training and its reference job."""

    name: str
    train: Job
    reference: Job
    environment: Mapping[str, str] = field(default_factory=dict)


def bundled_subjects(settings: Settings, names: Sequence[str], everything: bool) -> list[Subject]:
    """The bundled programs of those names; generates missing inputs."""
    chosen = [b.name for b in list_plain(settings)] if everything else list(names)
    if not chosen:
        raise UsageError(
            "Name a bundled program (`halo bench --list` lists them), or give your own:"
            " halo study eval compare -- PROG TRAIN-ARGS -- PROG REF-ARGS"
        )
    found = []
    for bundled in [find_bundled(settings, name) for name in chosen]:
        found.append(Subject(bundled.name, *prepare(settings, bundled), bundled.env))
    return found


def own_subject(
    settings: Settings,
    name: str,
    train: Sequence[str],
    reference: Sequence[str],
    stdin: Path | None,
) -> Subject:
    """The user's program on two inputs."""
    target = find_target(name, settings.environment, train)
    return Subject(
        target.path.name, Job(target, tuple(train), stdin), Job(target, tuple(reference), stdin)
    )


def evaluate(settings: Settings, options: argparse.Namespace, subjects: Sequence[Subject]) -> int:
    """Evaluates all, one after the other; a failure does not stop the others.

    Raises an error of the type of the first one, with all their sentences.
    """
    errors: list[HaloError] = []
    for subject in [_tolerant(options, subject) for subject in subjects]:
        folder = results_folder(options.results / subject.name, subject.name)
        outcome: Path | HaloError = folder / "results.json"
        try:
            with held(folder):
                _evaluate_one(settings, options, subject, folder)
        except HaloError as error:
            outcome = error
            errors.append(error)
        print(f"{subject.name}: {outcome}")
    if errors:
        raise type(errors[0])(" ".join(map(str, errors)))
    folders = [str(options.results / subject.name) for subject in subjects]
    print(f"Next: {shlex.join([settings.command, 'report', *folders, '-o', 'report.html'])}")
    return 0


def _tolerant(options: argparse.Namespace, subject: Subject) -> Subject:
    train, reference = (tolerant(options, job) for job in (subject.train, subject.reference))
    return replace(subject, train=train, reference=reference)


def _evaluate_one(
    settings: Settings, options: argparse.Namespace, subject: Subject, folder: Path
) -> None:
    """Writes results.json."""
    environment = plain_environment(settings, subject.environment)
    chosen = MeasurementOptions(
        trials=options.trials,
        results=folder,
        environment=environment,
        cpu=options.cpu,
        native=native_allocator(subject.reference.target.path, environment),
    )
    comparison = Comparison(
        subject.train,
        subject.reference,
        simulate=not options.no_simulation,
        distances=options.distance,
    )
    commands = {
        "train": subject.train.command,
        "reference": subject.reference.command,
        "options": repeat_options(subject.reference),
    }
    findings = Findings(subject.name, commands, describe_machine())
    findings.outputs_compared = not options.ignore_output
    reporter = Reporter(subject.name)
    check_privileges(subject.train.target)
    try:
        with Session(settings, chosen, findings, reporter) as session:
            document = compare(session, comparison)
    except KeyboardInterrupt:
        report_outputs(folder, options.results.absolute())
        raise
    except BaseException:
        drop_empty(folder)
        raise
    finally:
        reporter.clear()
    write_json(document, folder / "results.json")
