"""`halo bench`: does what `halo run` does, for bundled programs with their own two inputs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial

from halo.base.errors import HaloError, UsageError
from halo.base.settings import Settings
from halo.cli.shared.measuring_options import (
    add_choosing_options,
    add_litter_option,
    add_measuring_options,
    add_tolerance_options,
    tolerant,
)
from halo.cli.shared.results import default_folder


class BenchCommand:
    name = "bench"
    summary = "Do the same as `halo run` for bundled programs."
    usage = "halo bench [OPTIONS] NAME... | --all | --list"
    examples = ("halo bench --trials 15 --results results/two jq hospital",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="bundled programs to measure")
        parser.add_argument(
            "--all", action="store_true", help="all bundled programs, without variants"
        )
        parser.add_argument("--list", action="store_true", help="list the bundled programs")
        add_measuring_options(parser)
        add_choosing_options(parser)
        add_litter_option(parser)
        add_tolerance_options(parser)

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.measure.bundled import list_plain

        if rest:
            raise UsageError("`halo bench` takes names and no program; for a program: halo run")
        if options.list:
            return list_programs(settings)
        names = [b.name for b in list_plain(settings)] if options.all else options.names
        if not names:
            raise UsageError("Name a bundled program; `halo bench --list` lists them.")
        return measure(settings, options, names)


def list_programs(settings: Settings) -> int:
    """Prints the name, the origin and the summary of each program."""
    from halo.measure.bundled import list_bundled

    for bundled in list_bundled(settings):
        origin = "ours"
        if bundled.variant_of:
            origin = f"variant of {bundled.variant_of}"
        elif bundled.package:
            origin = f"Debian's {bundled.package}"
        print(f"{bundled.name:<19}{origin:<24}{bundled.summary}")
    return 0


def measure(settings: Settings, options: argparse.Namespace, names: Sequence[str]) -> int:
    """All named programs, one after the other, and one table at the end.

    A program that cannot be measured does not stop the others.
    """
    from halo.cli.shared.measurement import (
        check_failures,
        check_options,
        measure_program,
        write_summary,
    )
    from halo.measure.bundled import Bundled, find_bundled, prepare_all
    from halo.measure.results import summarize_findings
    from halo.measure.runs.job import redirection
    from halo.measure.table import next_step, show

    def find(name: str) -> Bundled:
        return find_bundled(settings, name)

    check_options(settings, options, whole=True)
    chosen = [(bundled, prepare_all(settings, bundled)) for bundled in map(find, names)]
    several = len(chosen) > 1
    of_all = options.results or default_folder("bench")
    done, steps, folders, errors = [], [], [], []
    for bundled, jobs in chosen:
        inputs = jobs.each(partial(tolerant, options)).inputs()
        reference = inputs.answered
        results = of_all / bundled.name if several else options.results
        try:
            findings, folder = measure_program(
                settings, options, bundled.name, inputs, results, True, bundled.env, several
            )
        except HaloError as error:
            errors.append(error)
            continue
        done.append(findings)
        folders.append(folder)
        environment = [f"{key}={shlex.quote(value)}" for key, value in bundled.env.items()]
        command = [str(reference.target.path), *reference.arguments]
        step = next_step(findings, settings.command, folder, command)
        steps.append(" ".join([*environment, step]) + redirection(reference) if step else "")
    write_summary([summarize_findings(findings) for findings in done], options.json)
    show([findings for findings in done if not findings.failure])
    for findings, folder, step in zip(done, folders, steps, strict=True):
        print(f"Results of {findings.program}: {folder}")
        if step:
            print(f"  the same by hand: {step}")
    if folders:
        page = ["report", *map(str, folders), "-o", "report.html"]
        print(f"Next: {shlex.join([settings.command, *page])}")
    check_failures(done, errors)
    return 0
