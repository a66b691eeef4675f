"""Shared by run, bench and baseline: one measurement of one program, and its output."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from halo.base.errors import BadInput, HaloError, TrialFailed, UsageError
from halo.base.files.atomic import write_json
from halo.base.files.destination import check_place
from halo.base.files.folder_lock import held
from halo.base.settings import Settings
from halo.binary.process.allocators import find_allocator
from halo.cli.shared.ended import show_ended
from halo.cli.shared.finished import findings_of, finished
from halo.cli.shared.measuring_options import candidates_of, check_cpu
from halo.cli.shared.program import check_library, check_runtime, plain_environment
from halo.cli.shared.results import drop_empty, report_outputs, results_folder
from halo.measure.aging import Litter, parse_litter, read_detection
from halo.measure.deep.choice import Choice, choose
from halo.measure.findings import Findings
from halo.measure.inputs.question import question_of, write_question
from halo.measure.inputs.roles import Inputs
from halo.measure.job_inputs import JobInputs
from halo.measure.racing.budget import EFFORTS, NORMAL, Effort
from halo.measure.racing.gains import Objective
from halo.measure.reporter import Reporter
from halo.measure.results import raw_results, summarize_findings
from halo.measure.run import STAGES, baseline, run
from halo.measure.runs.job import repeat_options
from halo.measure.runs.machine import describe_machine
from halo.measure.session import STAGES as STAGES_FOLDER
from halo.measure.session import MeasurementOptions, Session, common_inputs
from halo.record.registry import find_producer
from halo.ship.doctor.native import native_allocator


def check_options(settings: Settings, options: argparse.Namespace, whole: bool) -> None:
    """Checks everything that can be refused before the first run."""
    check_cpu(options.cpu)
    if litter_of(options) is not None:
        if getattr(options, "load", None) is not None:
            raise UsageError("--litter ages programs that end by themselves: omit it or --load.")
        check_library("litterer", settings.litterer)
        check_library("detector", settings.detector)
    if options.json is not None:
        check_place(options.json)
    if whole:
        choice_of(options)
        find_producer(settings)
        check_runtime(settings)


def measure_program(
    settings: Settings,
    options: argparse.Namespace,
    name: str,
    inputs: Inputs,
    results: Path | None,
    plans: bool = True,
    extra: Mapping[str, str] | None = None,
    resume: bool = False,
) -> tuple[Findings, Path]:
    """Measures, and writes the results even if a wrong output ended the measurement.

    Without `plans`, only allocators are measured. Stages that an interrupted measurement in
    `results` has finished are not run again. If the finished one in it was asked the same, its
    answer is read. With `resume`, one that was asked something else continues: `results` is then in
    a folder of several programs.
    """
    folder, reference = results_folder(results, name), inputs.answered
    environment = plain_environment(settings, extra)
    chosen = MeasurementOptions(
        trials=options.trials,
        results=folder,
        environment=environment,
        cpu=options.cpu,
        litter=litter_of(options),
        native=native_allocator(reference.target.path, environment),
        effort=effort_of(options),
        allocators=[find_allocator(it) for it in options.more_allocators],
    )
    train = inputs.recorded[0] if plans else None
    commands = inputs.commands() if plans else {"reference": reference.command}
    commands["options"] = [*repeat_options(reference, train, chosen.litter), *_effort(options)]
    findings = Findings(name, commands, describe_machine(), litter=chosen.litter)
    findings.objective = Objective(getattr(options, "objective", "time"))
    reporter = Reporter(name, STAGES if plans else 0)
    data = chosen.litter.data if chosen.litter is not None else None
    ask = partial(
        question_of,
        vars(options),
        commands,
        inputs.all,
        common=common_inputs(settings, chosen, findings.machine),
        files=[] if data is None else [data],
    )
    with held(folder):
        if (done := finished(folder, ask(JobInputs()), resume)) is not None:
            return findings_of(done, chosen.native), folder
        try:
            with Session(settings, chosen, findings, reporter) as session:
                if plans:
                    run(session, choice_of(options, len(inputs.recorded)), inputs)
                else:
                    baseline(session, reference)
                write_question(ask(session.inputs), folder / STAGES_FOLDER)
        except TrialFailed as error:
            findings.failure = str(error)
            show_ended(findings, settings.command, reference)
        except (KeyboardInterrupt, HaloError, OSError) as error:
            if findings.training or findings.reference:
                findings.failure = _ending(name, error)
            with suppress(BadInput):  # the first error is the one to report
                _save(findings, folder)
            if not isinstance(error, KeyboardInterrupt):
                show_ended(findings, settings.command, reference)
            continued = results.parent if results is not None and resume else results
            report_outputs(folder, continued and continued.absolute())
            raise
        finally:
            reporter.clear()
        _save(findings, folder)
    return findings, folder


def _ending(name: str, error: BaseException) -> str:
    """Why the measurement ended before its end."""
    if isinstance(error, KeyboardInterrupt):
        return f"The measurement of {name} was interrupted ({error})."
    return str(error)


def choice_of(options: argparse.Namespace, recorded: int = 1) -> Choice:
    """What is tried with that number of recorded inputs; `UsageError` if that cannot be."""
    return choose(candidates_of(options), effort_of(options), recorded, options.distance)


def _effort(options: argparse.Namespace) -> list[str]:
    """The options that say how much is tried, and for what, as words; without the defaults."""
    given = {"--effort": (effort_name(options), NORMAL)}
    given["--objective"] = (getattr(options, "objective", Objective.TIME), Objective.TIME)
    words = [word for name, (it, usual) in given.items() if it != usual for word in (name, str(it))]
    return words + [word for it in options.more_allocators for word in ("--allocator", it)]


def effort_name(options: argparse.Namespace) -> str:
    return str(getattr(options, "effort", NORMAL))


def effort_of(options: argparse.Namespace) -> Effort:
    """That of `--effort`; of commands without that option, the normal one."""
    return EFFORTS[effort_name(options)]


def litter_of(options: argparse.Namespace) -> Litter | None:
    """The settings of --litter; `UsageError` or `BadInput` if they are invalid."""
    if options.litter is None:
        return None
    litter = parse_litter(options.litter)
    if litter.data is not None:
        read_detection(litter.data)
    return litter


def _save(findings: Findings, folder: Path) -> None:
    """Writes the results, if there are any."""
    has_evidence = findings.failure and folder.is_dir() and any(folder.iterdir())
    if findings.training or findings.reference or has_evidence:
        try:
            write_json(raw_results(findings), folder / "results.json")
            write_json(summarize_findings(findings), folder / "summary.json")
        finally:
            drop_empty(folder)
    else:
        drop_empty(folder)


def check_failures(done: Sequence[Findings], errors: Sequence[HaloError] = ()) -> None:
    """Raises `TrialFailed` if a wrong output ended a measurement.

    With `errors`, which ended other ones, raises one of the type of the first.
    """
    failed = [findings.failure for findings in done if findings.failure]
    if failed or errors:
        kind = type(errors[0]) if errors else TrialFailed
        raise kind(" ".join([*failed, *map(str, errors)]))


def write_summary(summaries: Sequence[Any], path: Path | None) -> None:
    """`--json`: one object for one program, a list for several."""
    if path is not None:
        write_json(summaries[0] if len(summaries) == 1 else summaries, path)
