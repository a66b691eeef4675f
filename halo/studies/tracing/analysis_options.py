"""What the commands of analyses have in common: options, running, output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from halo.base.errors import UsageError
from halo.base.files.scratch import scratch_folder
from halo.base.settings import Settings
from halo.cli.shared.numbers import natural, positive

if TYPE_CHECKING:
    from halo.studies.tracing.analyses import Analysis, Answer, Request, TraceFolder, Value

    Deliver = Callable[[argparse.Namespace, Analysis, Answer], None]

KINDS = ("function", "type", "file", "variable")


def add_trace(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    """The traces or the dataset to analyse."""
    parser.add_argument(
        "trace",
        type=Path,
        nargs=nargs,
        metavar="TRACE",
        help="traces of one build, or one dataset written by `halo study trace convert`",
    )


def add_common(parser: argparse.ArgumentParser, rows: str = "rows") -> None:
    """The options of all analyses; `--limit` is a number of these rows."""
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="write the rows to FILE; - for standard output, in place of the table",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the whole result to FILE; - for standard output, in place of the table",
    )
    parser.add_argument(
        "--rows",
        "--limit",
        type=natural,
        default=20,
        metavar="N",
        help=f"number of {rows} (default %(default)s)",
    )
    for kind in KINDS:
        parser.add_argument(
            f"--{kind}",
            type=_glob,
            action="append",
            default=[],
            metavar="GLOB",
            help=f"only places with a matching {kind}; !GLOB excludes them; repeatable",
        )
    parser.add_argument(
        "--engine",
        choices=("duckdb", "spark"),
        default="duckdb",
        help="query engine (default %(default)s)",
    )
    parser.add_argument(
        "--memory",
        default="2GB",
        metavar="SIZE",
        help="maximum memory of the engine (default %(default)s)",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        default=0,
        metavar="N",
        help="number of threads (default: one for each processor)",
    )
    parser.add_argument(
        "--live",
        action="store_true",
        help="follow a dataset that `halo study trace convert` is still writing; uses Spark",
    )


def _glob(text: str) -> str:
    if not text.removeprefix("!"):
        raise argparse.ArgumentTypeError("an empty pattern matches nothing")
    return text


def check_no_program(command: str, rest: list[str]) -> None:
    """Traces are of programs that have been run."""
    if rest:
        raise UsageError(f"`halo {command}` takes a trace and no program; leave out the `--`.")


def analyse(
    settings: Settings,
    options: argparse.Namespace,
    analysis: Analysis,
    parameters: dict[str, Value],
    hand_over: Deliver | None = None,
) -> int:
    """Runs the analysis and prints or writes what it says, where need be in a way of its own."""
    from halo.base.files.destination import check_place
    from halo.studies.tracing.analyses import (
        Filters,
        Request,
        TraceFolder,
        open_folder,
        run_analysis,
    )

    if options.csv == "-" and options.json == "-":
        raise UsageError("Only one of --csv and --json can go to stdout.")
    for name in (options.csv, options.json):
        if name not in (None, "-"):
            check_place(Path(name))
    hand_over = hand_over or deliver
    with scratch_folder() as tmp:
        request = Request(
            tmp=tmp,
            engine=options.engine,
            memory=options.memory,
            threads=options.threads,
            filters=Filters({kind: tuple(getattr(options, kind)) for kind in KINDS}),
            parameters={"limit": options.rows, **parameters},
        )
        if options.live:
            if len(options.trace) != 1:
                raise UsageError("--live follows one folder.")
            folder = TraceFolder(options.trace[0])
            answer = _follow(options, analysis, folder, request, hand_over)
        else:
            folder = open_folder(columns_of(settings, options.trace, tmp))
            answer = run_analysis(analysis, folder, request)
        hand_over(options, analysis, answer)
    return 0


def columns_of(settings: Settings, paths: list[Path], tmp: Path) -> Path:
    """The folder of columns itself, or traces as one, with this machine's caches simulated."""
    from halo.studies.tracing.columns import convert
    from halo.studies.tracing.machines import machine_of

    if len(paths) == 1 and paths[0].is_dir():
        return paths[0]
    for path in paths:
        if path.is_dir():
            raise UsageError(f"Give one folder of columns, or traces; {path} is one of several.")
    names = [str(path) for path in paths]
    with machine_of(None, False) as machine:
        conversion = convert(settings, names, tmp / "columns", machine, keep_damaged=False)
    for sentence in conversion.sentences:
        print(f"halo: {sentence}", file=sys.stderr)
    return conversion.folder


def _follow(
    options: argparse.Namespace,
    analysis: Analysis,
    folder: TraceFolder,
    request: Request,
    hand_over: Deliver,
) -> Answer:
    from halo.studies.tracing.analyses.engines.spark import SparkEngine
    from halo.studies.tracing.analyses.engines.spark_live import follow

    def update(answer: Answer) -> None:
        # A reader of stdout wants one document: the last.
        if "-" not in (options.csv, options.json):
            hand_over(options, analysis, answer)

    with closing(SparkEngine(request.tmp, request.memory, request.threads)) as engine:
        return follow(analysis, folder, request, engine, update)


def deliver(options: argparse.Namespace, analysis: Analysis, answer: Answer) -> None:
    """To the files asked for; as a table unless stdout takes one of them."""
    from halo.studies.tracing.analyses.documents import answer_document, csv_text, json_text
    from halo.studies.tracing.analyses.render import show_answer

    if options.csv:
        write_out(options.csv, csv_text(answer.report))
    if options.json:
        write_out(options.json, json_text(answer_document(answer)))
    if "-" not in (options.csv, options.json):
        show_answer(analysis, answer)
    sys.stdout.flush()


def write_out(name: str, text: str) -> None:
    """To the file of that name; `-` is stdout."""
    from halo.base.files.atomic import write_atomically

    if name == "-":
        sys.stdout.write(text)
    else:
        write_atomically(Path(name), text.encode())
