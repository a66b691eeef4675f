"""`halo study heap detect`: the sizes of a program's allocations, for littering."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from halo.base.console.outcome import say
from halo.base.errors import RecordingFailed
from halo.base.settings import Settings
from halo.binary.process.foreground import end_like, run_in_foreground
from halo.binary.process.target import find_target
from halo.cli.shared.in_results import plan_argument
from halo.cli.shared.options import add_allocator_option
from halo.cli.shared.program import check_library, chosen_environment, the_program

COMMAND = "heap detect"


class DetectCommand:
    name = "detect"
    summary = "Count the allocations of a program by size, for `halo study heap litter`."
    usage = "halo study heap detect [OPTIONS] -- PROG ARGS"
    examples = ("halo study heap detect -o jq.sizes -- jq . small.json",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            default=Path("detector.out"),
            metavar="FILE",
            help="file to write (default %(default)s)",
        )
        parser.add_argument(
            "--plan",
            type=plan_argument,
            metavar="PLAN",
            help="plan whose groups are counted separately",
        )
        add_allocator_option(parser, "allocator of the program")

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.base.files.destination import check_place
        from halo.measure.aging import detect_environment, read_detection

        name, arguments = the_program(rest, COMMAND)
        target = find_target(name, settings.environment, arguments)
        check_place(options.output)
        check_library("detector", settings.detector)
        environment = chosen_environment(settings, target.path, options.allocator, options.plan)
        output = options.output.absolute()
        draft = output.with_name(f".{output.name}.new")
        environment = detect_environment(environment, settings.detector, target.path, draft)
        try:
            draft.unlink(missing_ok=True)  # of a halo that was killed
            ending = run_in_foreground(str(target.path), rest, environment, lambda: None)
            if not draft.exists():
                end_like(ending)  # ends halo in the same way as the program
                raise RecordingFailed(
                    f"{target.name} wrote no sizes of its allocations, so {options.output} was not"
                    " written; halo doctor detects programs into which nothing can be preloaded."
                )
            found = read_detection(draft)
            draft.replace(output)
        finally:
            draft.unlink(missing_ok=True)
        status = end_like(ending)
        if not found.allocations:
            raise RecordingFailed(
                f"{target.name} ended before it allocated anything: {options.output} is useless for"
                " littering."
            )
        litter = [
            "study",
            "heap",
            "litter",
            "--data",
            str(options.output),
            "--",
            target.name,
            *rest[1:],
        ]
        say(f"halo: the sizes are in {options.output}")
        say(f"Next: {shlex.join([settings.command, *litter])}", whole=True)
        return status
