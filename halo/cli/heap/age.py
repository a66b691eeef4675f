"""`halo study heap age`: a program on clean and on aged heaps, over allocators and plans."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import HaloError, UsageError
from halo.base.settings import Settings
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.measuring_options import (
    DEFAULT_TRIALS,
    add_litter_settings,
    add_measuring_options,
    add_stream_options,
    check_cpu,
    job_of,
)
from halo.cli.shared.program import (
    check_library,
    check_runtime,
    input_file,
    plain_environment,
    the_program,
)
from halo.cli.shared.results import drop_empty, report_outputs, results_folder

if TYPE_CHECKING:
    from halo.measure.aged import Aging
    from halo.measure.inputs.question import Question
    from halo.measure.job_inputs import JobInputs
    from halo.measure.session import Session
    from halo.report.results import Measurement

OCCUPANCIES = "0.99,0.95,0.9,0.8,0.65,0.5"

COMMAND = "heap age"


class AgeCommand:
    name = "age"
    summary = "Measure a program on a clean heap and on aged heaps, under allocators and plans."
    usage = "halo study heap age [OPTIONS] -- PROG ARGS"
    examples = ("halo study heap age --plan jq.plan --groups -- jq . large.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--occupancy",
            "--occupancies",
            default=OCCUPANCIES,
            metavar="A,B",
            help="occupancies to measure, from 0 to 1 (default %(default)s)",
        )
        add_litter_settings(parser, "1")
        parser.add_argument(
            "--plan",
            type=plan_argument,
            action="append",
            default=[],
            metavar="PLAN",
            help="plan to measure; repeatable",
        )
        parser.add_argument(
            "--under",
            default="glibc",
            metavar="A,B",
            help="next allocators of the plans (default %(default)s)",
        )
        parser.add_argument(
            "--groups",
            action="store_true",
            help="measure each plan also with littered groups",
        )
        parser.add_argument(
            "--custom",
            metavar="PROG",
            help="variant of the program with its own allocator, run with the same arguments",
        )
        parser.add_argument(
            "--no-split",
            action="store_true",
            help="do not sample with perf the share of the time inside the allocator",
        )
        parser.add_argument(
            "--simulate",
            action="store_true",
            help="also simulate caches and TLBs; each such run takes 20 to 100 times as long",
        )
        add_measuring_options(parser, str(DEFAULT_TRIALS))
        add_stream_options(parser, aged=True)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.base.files.folder_lock import held
        from halo.binary.process.allocators import find_allocator
        from halo.cli.shared.finished import finished
        from halo.cli.shared.measurement import write_summary
        from halo.measure.aged import Aging
        from halo.measure.aging import Litter
        from halo.measure.aging.litter import multiplier, occupancy, seed
        from halo.measure.findings import Findings
        from halo.measure.inputs.question import question_of
        from halo.measure.job_inputs import JobInputs
        from halo.measure.reporter import Reporter
        from halo.measure.runs.litter import clean
        from halo.measure.runs.machine import describe_machine
        from halo.measure.session import MeasurementOptions, Session, common_inputs
        from halo.plan.build_match import check_plan
        from halo.record.registry import find_producer
        from halo.report.results.aged_summary import show_aged, summarize_aged
        from halo.ship.doctor.native import native_allocator

        name, arguments = the_program(rest, COMMAND)
        target = find_target(name, settings.environment, arguments)
        custom = find_target(options.custom, settings.environment) if options.custom else None
        job = job_of(options, target, arguments, input_file(options.stdin))
        levels = [occupancy(text) for text in filter(None, options.occupancy.split(","))]
        if len(set(levels)) < max(1, len(levels)):
            raise UsageError("--occupancy takes one number or more, each of them once.")
        for plan in options.plan:
            check_plan(plan, target.path, arguments, halo=settings.command)
        stems = [plan.stem for plan in options.plan]
        if len(set(stems)) < len(stems):
            raise UsageError("Two plans have the same name; plans need different names.")
        under = [find_allocator(text) for text in filter(None, options.under.split(","))]
        if len({allocator.name for allocator in under}) < max(1, len(under)):
            raise UsageError("--under takes one allocator or more, each of them once.")
        if options.groups and not options.plan:
            raise UsageError("--groups litters the groups of a plan: give one with --plan.")
        check_cpu(options.cpu)
        if options.json is not None:
            check_place(options.json)
        for part, path in (("litterer", settings.litterer), ("detector", settings.detector)):
            check_library(part, path)
        check_runtime(settings)
        if options.simulate:
            find_producer(settings, everything=True)
        litter = Litter(
            multiplier=multiplier(options.multiplier),
            seed=None if options.seed is None else seed(options.seed),
            shuffle=not options.no_shuffle,
            groups=options.groups,
        )
        folder = results_folder(options.results, target.path.name)
        trials = options.trials or DEFAULT_TRIALS
        environment = plain_environment(settings)
        native = native_allocator(target.path, environment)
        under = [native if it.library is None else it for it in under]
        chosen = MeasurementOptions(trials, folder, environment, options.cpu, native=native)
        aging = Aging(
            job,
            occupancies=levels,
            litter=litter,
            plans=[plan.absolute() for plan in options.plan],
            under=under,
            custom=custom,
            split=not options.no_split,
            simulate=options.simulate,
        )
        commands = {"reference": job.command}
        findings = Findings(target.path.name, commands, describe_machine(), litter=clean())
        findings.outputs_compared = not options.ignore_output
        reporter = Reporter(target.path.name)
        ask = partial(
            question_of,
            vars(options),
            commands,
            [job],
            common=common_inputs(settings, chosen, findings.machine),
            files=[*options.plan, *([] if custom is None else [custom.path])],
        )
        with held(folder):
            measurement = finished(folder, ask(JobInputs()))
            if measurement is None:
                session = Session(settings, chosen, findings, reporter)
                measurement = _measure(session, aging, folder, ask)
        write_summary([summarize_aged(measurement)], options.json)
        show_aged(measurement)
        print(f"Results: {folder}")
        plot = ["plot", "occupancy", "-o", "occupancy.svg", str(folder)]
        print(f"Next: {shlex.join([settings.command, *plot])}")
        return 0


def _measure(
    session: Session, aging: Aging, folder: Path, ask: Callable[[JobInputs], Question]
) -> Measurement:
    """Writes the results, also of the times alone if the simulation fails."""
    from halo.base.files.atomic import write_json
    from halo.measure.aged import measure_aged
    from halo.measure.inputs.question import write_question
    from halo.measure.session import STAGES
    from halo.report.results import read_measurement

    path = folder / "results.json"
    try:
        with session:
            stages = measure_aged(session, aging)
            results = next(stages)
            try:
                for further in stages:
                    results = further
            except HaloError:
                write_json(results, path)  # the times are worth more than what failed
                raise
            write_question(ask(session.inputs), folder / STAGES)
        write_json(results, path)
    except KeyboardInterrupt:
        report_outputs(folder)
        raise
    finally:
        session.reporter.clear()
        drop_empty(folder)
    return read_measurement(path)
