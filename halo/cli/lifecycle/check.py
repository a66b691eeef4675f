"""`halo check`: says whether a plan still makes a program fast enough, for instance in CI."""

from __future__ import annotations

import argparse
import math

from halo.base.settings import Settings
from halo.binary.process.allocators import GLIBC, find_allocator
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.measuring_options import add_cpu_option, add_stream_options, check_cpu, job_of
from halo.cli.shared.numbers import positive
from halo.cli.shared.options import add_json_option
from halo.cli.shared.program import (
    check_runtime,
    input_file,
    plain_environment,
    the_program,
    warn_of_deep_binding,
)
from halo.cli.shared.results import default_folder


class CheckCommand:
    name = "check"
    summary = "Check that a plan still makes a program faster, without recording it."
    usage = "halo check [OPTIONS] --plan PLAN -- PROG ARGS"
    examples = ("halo check --plan jq.plan --allocator jemalloc -- ./jq . large.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan",
            type=plan_argument,
            metavar="PLAN",
            required=True,
            help="plan in its compact form, or a results folder: its kept plan",
        )
        parser.add_argument(
            "--allocator",
            metavar="NAME",
            help="next allocator of the plan: glibc, jemalloc, mimalloc, tcmalloc or the path of a"
            " library (default: the one that `halo run` chose the plan over, else glibc)",
        )
        parser.add_argument(
            "--min-speedup",
            type=_ratio,
            default=1.05,
            metavar="RATIO",
            help="how many times as fast as without the plan the program has to be (default"
            " %(default)s)",
        )
        parser.add_argument(
            "--seconds",
            type=positive,
            default=50,
            metavar="N",
            help="time budget in seconds; the check ends as soon as the answer is sure (default"
            " %(default)s)",
        )
        parser.add_argument(
            "--clock",
            choices=("auto", "wall", "processor"),
            default="auto",
            help="time to compare: from start to end, or of the processor, which varies less if"
            " others use the machine; auto: of the processor if one thread does the work and never"
            " waits (default %(default)s)",
        )
        add_json_option(parser, "the summary")
        add_cpu_option(parser)
        add_stream_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.console.terminal import make_console, show_prose
        from halo.base.errors import BadPlan
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.measure.checks.check import CheckOptions, check
        from halo.measure.checks.clock import Clock
        from halo.measure.checks.report import conclusion, next_step, summarize_check
        from halo.measure.reporter import Reporter
        from halo.measure.runs.wrappers import refuse_known_launcher
        from halo.plan.build_match import check_plan
        from halo.plan.updates import chosen_allocator
        from halo.ship.doctor.native import native_allocator

        name, arguments = the_program(rest, self.name)
        target = find_target(name, settings.environment, arguments)
        refuse_known_launcher(target, arguments, settings.environment)
        job = job_of(options, target, arguments, input_file(options.stdin))
        check_cpu(options.cpu)
        if options.json is not None:
            check_place(options.json)
        check_runtime(settings)
        plan = check_plan(options.plan, target.path, arguments, halo=settings.command)
        if plan.is_inert:
            raise BadPlan(f"{options.plan} places nothing; choose another with: halo run")
        known = options.allocator or chosen_allocator(options.plan, plan)
        allocator = find_allocator(known or GLIBC)
        native = native_allocator(target.path, plain_environment(settings))
        if allocator.library is None:
            allocator = native
        warn_of_deep_binding(settings, target.path)
        chosen = CheckOptions(
            options.min_speedup,
            options.seconds,
            plain_environment(settings),
            default_folder(target.path.name).absolute(),
            options.cpu,
            Clock(options.clock),
            native.name,
        )
        reporter = Reporter(target.path.name)
        try:
            found = check(settings, job, options.plan, plan, allocator, chosen, reporter)
        finally:
            reporter.clear()
        if options.json is not None:
            write_json(summarize_check(found, job, options.plan), options.json)
        show_prose(make_console(), conclusion(found, job, options.plan))
        given = (settings.command, options.seconds, options.cpu)
        print(f"Next: {next_step(found, job, options.plan, *given)}")
        return found.answer.value


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a ratio, such as 1.05")
    return value
