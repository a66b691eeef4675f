"""`halo age`: measures a program on clean and on aged heaps, over allocators and plans."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.commands.program import (
    add_litter_settings,
    add_measuring_options,
    add_stream_options,
    check_cpu,
    check_library,
    check_runtime,
    input_file,
    job_of,
    plain_environment,
    results_folder,
    tell_what_stays,
    the_program,
)
from halo.errors import UsageError
from halo.settings import Settings
from halo.target import find_target

OCCUPANCIES = "0.99,0.95,0.9,0.8,0.65,0.5"


class AgeCommand:
    name = "age"
    summary = "Measure a program on clean and on aged heaps, over allocators and plans."
    usage = "halo age [OPTIONS] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--occupancies",
            default=OCCUPANCIES,
            metavar="A,B",
            help="fractions of the objects that stay, 0 to 1 (default: %(default)s)",
        )
        add_litter_settings(parser, "1")
        parser.add_argument(
            "--plan",
            type=Path,
            action="append",
            default=[],
            metavar="PLAN",
            help="also under this plan; repeatable",
        )
        parser.add_argument(
            "--under",
            default="glibc",
            metavar="A,B",
            help="next allocators of the plans (default: %(default)s)",
        )
        parser.add_argument(
            "--groups",
            action="store_true",
            help="each plan also with its groups littered",
        )
        parser.add_argument(
            "--custom",
            metavar="PROG",
            help="the same program with an allocator of its own, run with the same arguments",
        )
        parser.add_argument(
            "--no-split",
            action="store_true",
            help="do not sample, with perf, how much of the time the allocator takes",
        )
        parser.add_argument(
            "--simulate",
            action="store_true",
            help="also simulate what each contender misses; each run takes 20 to 100 times as long",
        )
        add_measuring_options(parser)
        add_stream_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.aging import Litter
        from halo.aging.litter import multiplier, occupancy, seed
        from halo.allocators import find_allocator, four_allocators
        from halo.commands.measuring import write_summary
        from halo.destination import check_place
        from halo.matching import check_plan
        from halo.producers.registry import find_producer
        from halo.results import read_measurement
        from halo.results.aged_summary import show_aged, summarize_aged
        from halo.trials.aged import AgedOptions, AgedStudy
        from halo.trials.ageing import clean
        from halo.trials.findings import Findings
        from halo.trials.machine import describe_machine
        from halo.trials.reporter import Reporter
        from halo.trials.results import write_json
        from halo.trials.study import command_line

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment)
        custom = find_target(options.custom, settings.environment) if options.custom else None
        job = job_of(options, target, arguments, input_file(options.stdin))
        levels = [occupancy(text) for text in filter(None, options.occupancies.split(","))]
        if len(set(levels)) < max(1, len(levels)):
            raise UsageError("--occupancies takes one number or more, each of them once.")
        for plan in options.plan:
            check_plan(plan, target.path)
        stems = [plan.stem for plan in options.plan]
        if len(set(stems)) < len(stems):
            raise UsageError("Two plans have the same name, by which they are told apart.")
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
            find_producer(settings)
        litter = Litter(
            multiplier=multiplier(options.multiplier),
            seed=None if options.seed is None else seed(options.seed),
            shuffle=not options.no_shuffle,
            groups=options.groups,
        )
        folder = results_folder(options.results, target.path.name)
        chosen = AgedOptions(
            trials=options.trials,
            results=folder,
            environment=plain_environment(settings),
            occupancies=levels,
            litter=litter,
            allocators=four_allocators(),
            plans=[plan.absolute() for plan in options.plan],
            under=under,
            custom=custom,
            cpu=options.cpu,
            split=not options.no_split,
        )
        commands = {"reference": command_line(job)}
        findings = Findings(target.path.name, commands, describe_machine(settings), litter=clean())
        findings.outputs_compared = not options.ignore_output
        reporter = Reporter(target.path.name)
        path = folder / "results.json"
        try:
            with AgedStudy(settings, chosen, findings, job, reporter) as study:
                document = study.run()
                write_json(document, path)  # what comes now is worth less than what is lost
                study.sample(document)
                write_json(document, path)
                if options.simulate:
                    study.simulate(document)
                    write_json(document, path)
        except KeyboardInterrupt:
            tell_what_stays(folder)
            raise
        finally:
            reporter.clear()
        measurement = read_measurement(path)
        write_summary([summarize_aged(measurement)], options.json)
        show_aged(measurement)
        print(f"Results: {folder}")
        print(f"Next: {settings.command} plot occupancy -o occupancy.svg {folder}")
        return 0
