"""Prepares results files for a repository: small, with paths relative to the checkout.

keep_results.py RESULTS FOLDER   each RESULTS/NAME/results.json becomes FOLDER/NAME.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def keep(results: Path, folder: Path) -> None:
    """All programs' results; those of programs that are no longer there go."""
    found = sorted(results.glob("*/results.json"))
    if not found:
        sys.exit(f"keep_results: {results} has no results; measure first: halo eval compare")
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{path.parent.name}.json" for path in found]
    for path, name in zip(found, names, strict=True):
        text = path.read_text().replace(f"{REPOSITORY}/", "")
        document = json.dumps(json.loads(text), separators=(",", ":"))
        (folder / name).write_text(f"{document}\n")
    for old in folder.glob("*.json"):
        if old.name not in names:
            old.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit((__doc__ or "").strip())
    keep(Path(sys.argv[1]), Path(sys.argv[2]))
