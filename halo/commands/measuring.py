"""Shared by run, bench and baseline: one study of one program, and everything it writes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from halo.aging import Litter, parse_litter, read_detection
from halo.commands.program import (
    check_cpu,
    check_library,
    check_runtime,
    drop_empty,
    plain_environment,
    results_folder,
    tell_what_stays,
)
from halo.destination import check_place
from halo.errors import TrialFailed
from halo.producers.registry import find_producer
from halo.recording import Limits
from halo.settings import Settings
from halo.trials.candidates import choose_recipes
from halo.trials.findings import Findings
from halo.trials.folders import refuse_finished
from halo.trials.job import Job
from halo.trials.machine import describe_machine
from halo.trials.reporter import Reporter
from halo.trials.results import raw_results, summarize_findings, write_json
from halo.trials.study import Options, Study, command_line


def check_options(settings: Settings, options: argparse.Namespace, whole: bool) -> None:
    """All that can be refused before the first second is spent."""
    check_cpu(options.cpu)
    if options.results is not None:
        refuse_finished(options.results)
    if litter_of(options) is not None:
        check_library("litterer", settings.litterer)
        check_library("detector", settings.detector)
    if options.json is not None:
        check_place(options.json)
    if whole:
        choose_recipes(_names(options))
        find_producer(settings)
        check_runtime(settings)


def study(
    settings: Settings,
    options: argparse.Namespace,
    name: str,
    reference: Job,
    train: Job | None = None,
    extra: Mapping[str, str] | None = None,
) -> tuple[Findings, Path]:
    """Measures, and writes the results even of a study that a wrong output ended."""
    folder = results_folder(options.results, name)
    chosen = Options(
        trials=options.trials,
        results=folder,
        environment=plain_environment(settings, extra),
        cpu=options.cpu,
        litter=litter_of(options),
    )
    commands = {"reference": command_line(reference)}
    if train is not None:
        commands["train"] = command_line(train)
        chosen = replace(
            chosen,
            recipes=choose_recipes(_names(options)),
            limits=Limits(distance=options.distance),
        )
    findings = Findings(name, commands, describe_machine(settings), litter=chosen.litter)
    reporter = Reporter(name)
    try:
        with Study(settings, chosen, findings, reporter) as running:
            if train is None:
                running.baseline(reference)
            else:
                running.run(train, reference)
    except TrialFailed as error:
        findings.failure = str(error)
    except KeyboardInterrupt as error:
        if findings.training or findings.reference:
            findings.failure = f"The measurement of {name} was interrupted ({error})."
        _save(findings, folder)
        tell_what_stays(folder)
        raise
    finally:
        reporter.clear()
        _save(findings, folder)
    return findings, folder


def litter_of(options: argparse.Namespace) -> Litter | None:
    """What --litter says; UsageError or BadInput where it is no good."""
    if options.litter is None:
        return None
    litter = parse_litter(options.litter)
    if litter.data is not None:
        read_detection(litter.data)
    return litter


def _save(findings: Findings, folder: Path) -> None:
    """The results, where there are any."""
    if findings.training or findings.reference or findings.failure:
        try:
            write_json(raw_results(findings), folder / "results.json")
            write_json(summarize_findings(findings), folder / "summary.json")
        finally:
            drop_empty(folder)
    else:
        drop_empty(folder)


def check_failures(done: Sequence[Findings]) -> None:
    """TrialFailed where a wrong output ended a measurement."""
    failed = [findings.failure for findings in done if findings.failure]
    if failed:
        raise TrialFailed(" ".join(failed))


def write_summary(summaries: list[dict[str, Any]], path: Path | None) -> None:
    """`--json`: one object for one program, a list for several."""
    if path is not None:
        write_json(summaries[0] if len(summaries) == 1 else summaries, path)


def _names(options: argparse.Namespace) -> list[str]:
    return [name.strip() for name in options.candidates.split(",") if name.strip()]
