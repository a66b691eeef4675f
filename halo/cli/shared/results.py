"""Results folders of commands: the default, creation, and removal of empty ones."""

from __future__ import annotations

import datetime
import shlex
from contextlib import suppress
from pathlib import Path

from halo.base.console.outcome import say
from halo.base.errors import BadInput

DEFAULT_RESULTS = Path("results")

_made: set[Path] = set()  # the folders that this process made for results
_found: set[Path] = set()  # what was in those that it did not make


def results_folder(given: Path | None, program: str) -> Path:
    """A folder for one measurement's results: the given one, or a new one."""
    from halo.measure.folders import fresh_folder

    wanted = (given or default_folder(program)).absolute()
    try:
        missing = [place for place in (wanted, *wanted.parents) if not place.exists()]
        if given is None:
            wanted = fresh_folder(wanted)
            missing.append(wanted)
        else:
            wanted.mkdir(parents=True, exist_ok=True)
        _found.update(wanted.iterdir())
    except OSError as error:
        raise BadInput(
            f"The results folder {given or default_folder(program)} cannot be made"
            f" ({error.strerror}); give another with --results."
        ) from error
    _made.update(missing)
    return wanted


def default_folder(program: str) -> Path:
    """The results folder without --results, which may exist already."""
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return DEFAULT_RESULTS / f"{Path(program).name}-{now}"


def report_outputs(folder: Path, given: Path | None = None) -> None:
    """Prints the folder of an interrupted measurement, and how to continue; removes an empty one.

    `given`: the value of --results that continues it, if that is not the folder itself.
    """
    drop_empty(folder)
    if folder.is_dir():
        say(f"halo: finished stages are in {folder}; to continue, repeat the command with")
        say(f"  --results {shlex.quote(str(given or folder))}", whole=True)


def drop_empty(folder: Path) -> None:
    """Removes a results folder in which nothing was finished, and empty ones above it.

    Only what this process made: a folder that the user made stays, and what was in it. The other
    empty folders in it are those of stages of which none was finished.
    """
    if not folder.is_dir() or not all(map(_is_empty_folder, folder.iterdir())):
        return
    for inner in {*folder.iterdir()} - _found:
        inner.rmdir()
    with suppress(OSError):  # it holds the results of another measurement
        for place in (folder, *folder.parents):
            if place not in _made:
                return
            place.rmdir()


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())
