"""The progress of a search on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar on stderr if that is a terminal; each call of the function is a step of `total`.

    The bar is removed at the end: the search may take fewer steps.
    """
    columns = (TextColumn("halo: {task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    silent = not sys.stderr.isatty()
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=silent
    ) as shown:
        task = shown.add_task(what, total=total)
        yield lambda: shown.advance(task)
