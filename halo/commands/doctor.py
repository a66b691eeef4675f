"""`halo doctor`: checks this machine, and whether halo can serve a program."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from halo.errors import MissingPart, UsageError
from halo.process.target import locate_target
from halo.settings import Settings

if TYPE_CHECKING:
    from halo.doctor.checks import Check

WIDE = 80  # columns: on a narrower terminal the sentences stand below the names
INDENT = 9


class DoctorCommand:
    name = "doctor"
    summary = "Check this machine, and whether halo can place the objects of a program."
    usage = "halo doctor [OPTIONS] [-- PROG [ARGS]]"
    examples = ("halo doctor", "halo doctor --run -- jq . small.json")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan", type=Path, metavar="PLAN", help="also check whether this plan fits PROG"
        )
        parser.add_argument(
            "--run",
            action="store_true",
            help="also run PROG once under the runtime, with empty input and discarded output",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        if not rest and (options.plan is not None or options.run):
            raise UsageError(
                "`--plan` and `--run` are about a program; give it after `--`, for instance: halo"
                " doctor --run -- PROG ARGS"
            )
        from halo.doctor.checks import check_machine

        failures = show(check_machine(settings))
        if rest:
            status = _examine(settings, options, rest)
            if status:
                return status
        if failures:
            return MissingPart.exit_status
        print("\nAll is well.")
        return 0


def show(checks: Iterable[Check]) -> int:
    """Prints the checks, and counts the needed ones that failed."""
    failures = 0
    for check in checks:
        state = "OK" if check.good else "missing" if check.needed else "note"
        _line(state, check.what, check.detail, "fix it with", "" if check.good else check.fix)
        failures += check.needed and not check.good
    return failures


def _examine(settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
    """Prints the findings on the program; the status of the first refusal, or 0."""
    from halo.doctor import Case, Weight, examine_program

    target = locate_target(rest[0], settings.environment)
    print(f"\n{target.path}")
    status = 0
    for finding in examine_program(settings, Case(target, rest[1:], options.plan, options.run)):
        _line(finding.weight.value, finding.what, finding.sentence, "way out", finding.way_out)
        if finding.weight is Weight.REFUSAL and not status:
            status = finding.error.exit_status
    return status


def _line(state: str, what: str, sentence: str, lead: str, remedy: str) -> None:
    from halo.console.terminal import make_console, wrap

    width = make_console().width
    head = f"{state:<8} {what:<22} "
    beside = width >= WIDE and len(head) + max(map(len, sentence.split())) <= width
    indent = " " * (len(head) if beside else INDENT)
    if not beside:
        print(head.rstrip())
        head = indent
    lines = wrap(sentence, width, indent, head)
    if remedy:
        lines += wrap(f"{lead}: {remedy}", width, indent)
    print("\n".join(lines), flush=True)
