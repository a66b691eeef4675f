"""Prepares results files for a repository: small, with paths relative to the checkout.

keep_results.py [--answers] RESULTS FOLDER

Each RESULTS/NAME/results.json becomes FOLDER/NAME.json; with --answers, without the trials that
chose.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from halo.base.files.atomic import write_atomically

REPOSITORY = Path(__file__).resolve().parents[2]
DETAILS = ("contexts", "objects")  # parts of simulations that are not kept


def keep(results: Path, folder: Path, answers: bool = False) -> None:
    """All programs' results; those of programs that are no longer there go."""
    found = sorted(results.glob("*/results.json"))
    if not found:
        sys.exit(f"keep_results: {results} has no folders with results.json; measure first")
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{path.parent.name}.json" for path in found]
    for path, name in zip(found, names, strict=True):
        document = relative(path)
        if answers:
            document["trials"] = {"reference": document["trials"]["reference"]}
        write_small(folder / name, document)
    for old in folder.glob("*.json"):
        if old.name not in names:
            old.unlink()


def keep_simulation(result: Path, file: Path, code: bool = False) -> None:
    """The totals of what `halo study eval simulate --json` wrote; a plan is its name.

    With `code`, also the misses of the most expensive code, by function without its file.
    """
    document = relative(result)
    document["plan"] = Path(document["plan"]).name if document["plan"] else None
    places = [{**it, "place": it["place"].partition(" at ")[0]} for it in document["code"]]
    document["code"] = places if code else []
    file.parent.mkdir(parents=True, exist_ok=True)
    write_small(file, {**document, **{key: [] for key in DETAILS}})


def relative(path: Path) -> dict[str, Any]:
    """A document, with paths relative to the checkout."""
    found: dict[str, Any] = json.loads(path.read_text().replace(f"{REPOSITORY}/", ""))
    return found


def write_small(file: Path, document: dict[str, Any]) -> None:
    """Writes the document in one line; the file is complete, or is not there."""
    write_atomically(file, f"{json.dumps(document, separators=(',', ':'))}\n".encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", action="store_true", help="without the trials that chose")
    parser.add_argument("results", type=Path, metavar="RESULTS")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    keep(given.results, given.folder, given.answers)
