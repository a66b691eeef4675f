"""`halo detect`: runs a program and writes the sizes of its allocations, for littering."""

from __future__ import annotations

import argparse
from pathlib import Path

from halo.commands.program import check_library, chosen_environment, the_program
from halo.errors import RecordingFailed
from halo.foreground import end_like, run_in_foreground
from halo.settings import Settings
from halo.target import find_target


class DetectCommand:
    name = "detect"
    summary = "Run a program and write the sizes of its allocations, for `halo litter`."
    usage = "halo detect [-o FILE] [--plan PLAN] [--allocator NAME|PATH] -- PROG ARGS"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            default=Path("detector.out"),
            metavar="FILE",
            help="default: %(default)s",
        )
        parser.add_argument(
            "--plan",
            type=Path,
            metavar="PLAN",
            help="tell apart what each of its groups would serve",
        )
        parser.add_argument(
            "--allocator",
            default="glibc",
            metavar="NAME",
            help="runs the program: glibc (default), jemalloc, mimalloc, tcmalloc or a library",
        )

    def run(self, settings: Settings, options: argparse.Namespace, rest: list[str]) -> int:
        from halo.aging import detect_environment, read_detection
        from halo.destination import check_place

        target = find_target(the_program(rest, self.name)[0], settings.environment)
        check_place(options.output)
        check_library("detector", settings.detector)
        environment = chosen_environment(settings, target.path, options.allocator, options.plan)
        output = options.output.absolute()
        draft = output.with_name(f".{output.name}.new")
        environment = detect_environment(environment, settings.detector, target.path, draft)
        try:
            ending = run_in_foreground(str(target.path), rest, environment, lambda: None)
            if not draft.exists():
                end_like(ending)  # the program's own death comes first
                raise RecordingFailed(
                    f"{target.name} left no sizes of its allocations, so {options.output} was not"
                    " written; halo doctor knows of programs into which nothing can be preloaded."
                )
            found = read_detection(draft)
            draft.replace(output)
        finally:
            draft.unlink(missing_ok=True)
        status = end_like(ending)
        if not found.allocations:
            raise RecordingFailed(
                f"{target.name} ended before it allocated anything: {options.output} is of no use"
                " for littering."
            )
        return status
