"""`halo doctor`: checks this machine, and whether halo can serve a program."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from halo.base.errors import MissingPart, UsageError
from halo.base.settings import Settings
from halo.binary.process.target import Target, locate_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.options import add_json_option

if TYPE_CHECKING:
    from halo.base.schema.doctor import ExaminedPart
    from halo.ship.doctor.check import MachineCheck

WIDE = 80  # columns: on a narrower terminal the sentences stand below the names
INDENT = 9
MISSING = "missing"
LEADS = {MISSING: "fix it with", "note": "fix it with", "optional": "install it with"}


class DoctorCommand:
    name = "doctor"
    summary = "Check this machine, and whether halo can place the objects of a program."
    usage = "halo doctor [OPTIONS] [-- PROG [ARGS]]"
    examples = ("halo doctor", "halo doctor --run -- jq . small.json")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--plan",
            type=plan_argument,
            metavar="PLAN",
            help="also check whether this plan fits PROG",
        )
        parser.add_argument(
            "--run",
            action="store_true",
            help="also run PROG once under the runtime, with empty input and discarded output",
        )

        add_json_option(parser, "all findings")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        if not rest and (options.plan is not None or options.run):
            raise UsageError(
                "`--plan` and `--run` are about a program; give it after `--`, for instance: halo"
                " doctor --run -- PROG ARGS"
            )
        from halo.base.files.atomic import write_json
        from halo.base.files.destination import check_place
        from halo.base.schema.doctor import DoctorDocument
        from halo.ship.doctor.checks import check_machine

        if options.json is not None:
            check_place(options.json)
        target = locate_target(rest[0], settings.environment) if rest else None
        machine = show(check_machine(settings))
        failed = any(part.state == MISSING for part in machine)
        findings: tuple[ExaminedPart, ...] = ()
        status = 0
        if target is not None:
            findings, status = _examine(settings, options, target, rest[1:])
        status = status or (MissingPart.exit_status if failed else 0)
        if options.json is not None:
            document = DoctorDocument(
                machine=machine,
                program=str(target.path) if target is not None else None,
                findings=findings,
                status=status,
            )
            write_json(document, options.json)
        if not status:
            print("\nAll is well.")
            print(f"Next: {shlex.join([settings.command, *_next_words(options, rest)])}")
        return status


def _next_words(options: argparse.Namespace, rest: list[str]) -> list[str]:
    """The command that uses what was examined: the plan, the program or the machine."""
    if options.plan is not None:
        return ["exec", "--plan", str(options.plan), "--", *rest]
    return ["probe", "--", *rest] if rest else ["bench", "--list"]


def show(checks: Iterable[MachineCheck]) -> tuple[ExaminedPart, ...]:
    """Prints each check as soon as it is made; returns them."""
    from halo.base.schema.doctor import ExaminedPart

    found = []
    for check in checks:
        state = check.state.value
        remedy = check.fix if state in LEADS else ""
        _line(state, check.what, check.detail, LEADS.get(state, ""), remedy)
        found.append(
            ExaminedPart(what=check.what, state=state, sentence=check.detail, remedy=remedy)
        )
    return tuple(found)


def _examine(
    settings: Settings, options: argparse.Namespace, target: Target, arguments: list[str]
) -> tuple[tuple[ExaminedPart, ...], int]:
    """Prints the findings on the program; with them, the status of the first refusal, or 0."""
    from halo.base.schema.doctor import ExaminedPart
    from halo.ship.doctor import Case, Weight, examine_program

    print(f"\n{target.path}")
    found, status = [], 0
    for finding in examine_program(settings, Case(target, arguments, options.plan, options.run)):
        state = finding.weight.value
        _line(state, finding.what, finding.sentence, "way out", finding.way_out)
        found.append(
            ExaminedPart(
                what=finding.what, state=state, sentence=finding.sentence, remedy=finding.way_out
            )
        )
        if finding.weight is Weight.REFUSAL and not status:
            status = finding.error.exit_status
    return tuple(found), status


def _line(state: str, what: str, sentence: str, lead: str, remedy: str) -> None:
    from halo.base.console.terminal import make_console, wrap

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
