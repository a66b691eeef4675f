"""Prepares results files for a repository: small, with paths relative to the checkout.

keep_results.py RESULTS FOLDER   each RESULTS/NAME/results.json becomes FOLDER/NAME.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from halo.files.atomic import write_atomically

REPOSITORY = Path(__file__).resolve().parents[1]
DETAILS = ("contexts", "objects")  # parts of simulations that are not kept


def keep(results: Path, folder: Path) -> None:
    """All programs' results; those of programs that are no longer there go."""
    found = sorted(results.glob("*/results.json"))
    if not found:
        sys.exit(f"keep_results: {results} has no results; measure first: halo eval compare")
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{path.parent.name}.json" for path in found]
    for path, name in zip(found, names, strict=True):
        write_small(folder / name, relative(path))
    for old in folder.glob("*.json"):
        if old.name not in names:
            old.unlink()


def keep_simulation(result: Path, file: Path, code: bool = False) -> None:
    """The totals of what `halo eval simulate --json` wrote; a plan is its name.

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
    if len(sys.argv) != 3:
        sys.exit((__doc__ or "").strip())
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
